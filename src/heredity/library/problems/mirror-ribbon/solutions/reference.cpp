class Solution {
public:
    long long mirrored(string ribbon, long long least) {
        long long count = (long long)ribbon.size(), total = 0;
        for (int even : {0, 1}) {
            vector<long long> reach(count);
            long long low = 0, high = -1;
            for (long long i = 0; i < count; ++i) {
                // Pieces of 2 k - 1 letters around i, or of 2 k letters whose right half begins at i.
                long long k = i > high ? 1 - even : min(reach[low + high - i + even], high - i + 1);
                while (i + k < count && i - k - even >= 0 && ribbon[i + k] == ribbon[i - k - even]) ++k;
                reach[i] = k;
                if (i + k - 1 > high) low = i - k + 1 - even, high = i + k - 1;
                long long longest = even ? 2 * k : 2 * k - 1;
                if (longest >= least) total += (longest - least) / 2 + 1;
            }
        }
        return total;
    }
};
