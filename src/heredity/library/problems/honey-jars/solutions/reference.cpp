class Solution {
public:
    long long pairs(vector<long long>& jars, long long low, long long high) {
        sort(jars.begin(), jars.end());
        auto upTo = [&](long long limit) {
            long long total = 0, left = 0, right = (long long)jars.size() - 1;
            while (left < right) {
                if (jars[left] + jars[right] > limit) --right;
                else total += right - left++;
            }
            return total;
        };
        return upTo(high) - upTo(low - 1);
    }
};
