class Solution {
public:
    vector<long long> withView(vector<long long>& houses, long long clear) {
        vector<long long> seen;
        long long highest = -clear;
        for (long long i = (long long)houses.size() - 1; i >= 0; --i) {
            if (houses[i] >= highest + clear) seen.push_back(i);
            highest = max(highest, houses[i]);
        }
        reverse(seen.begin(), seen.end());
        return seen;
    }
};
