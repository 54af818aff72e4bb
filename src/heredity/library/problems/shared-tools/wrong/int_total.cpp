class Solution {
public:
    long long trios(vector<long long>& boxes) {
        vector<int> having(1 << 15);
        for (long long box : boxes) ++having[box];
        for (int bit = 0; bit < 15; ++bit)
            for (int m = 0; m < 1 << 15; ++m)
                if (!(m >> bit & 1)) having[m] += having[m | 1 << bit];
        unsigned total = 0;
        for (int m = 0; m < 1 << 15; ++m) {
            unsigned c = having[m], ways = c < 3 ? 0 : c * (c - 1) / 2 * (c - 2) / 3;
            total += __builtin_popcount(m) % 2 ? -ways : ways;
        }
        return (int)total;
    }
};
