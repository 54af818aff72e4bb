class Solution {
public:
    long long flips(vector<vector<long long>>& spans) {
        long long total = 0;
        for (auto& span : spans) total += 2 * (span[1] - span[0]) - __builtin_popcount(span[1]) + __builtin_popcount(span[0]);
        return total;
    }
};
