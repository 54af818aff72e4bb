class Solution {
public:
    long long trios(vector<long long>& boxes) {
        vector<long long> having(1 << 15);
        for (long long box : boxes) ++having[box];
        for (int bit = 0; bit < 15; ++bit)
            for (int m = 0; m < 1 << 15; ++m)
                if (!(m >> bit & 1)) having[m] += having[m | 1 << bit];
        long long total = 0;
        for (int m = 0; m < 1 << 15; ++m) {
            long long ways = having[m] * (having[m] - 1) * (having[m] - 2) / 6;
            total += __builtin_popcount(m) % 2 ? -ways : ways;
        }
        return total;
    }
};
