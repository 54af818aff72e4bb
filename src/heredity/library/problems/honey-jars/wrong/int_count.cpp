class Solution {
public:
    long long pairs(vector<long long>& jars, long long low, long long high) {
        sort(jars.begin(), jars.end());
        int total = 0;
        for (size_t i = 0; i < jars.size(); ++i) {
            auto from = jars.begin() + i + 1;
            total += int(upper_bound(from, jars.end(), high - jars[i]) - lower_bound(from, jars.end(), low - jars[i]));
        }
        return total;
    }
};
