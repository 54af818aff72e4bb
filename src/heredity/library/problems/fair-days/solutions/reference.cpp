class Solution {
    unsigned long long divisors(unsigned long long top) {
        // Sums modulo 2^64 are enough: what is returned fits.
        unsigned long long total = 0;
        for (unsigned long long start = 1; start <= top;) {
            unsigned long long times = top / start, stop = top / times, count = stop - start + 1, ends = start + stop;
            if (count % 2) ends /= 2; else count /= 2;
            total += times * (count * ends);
            start = stop + 1;
        }
        return total;
    }

    long long coins(long long top) { return (long long)(divisors(top) - 4 * divisors(top / 2)); }

public:
    long long purse(long long first, long long last) { return coins(last) - coins(first - 1); }
};
