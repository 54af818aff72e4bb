class Solution {
    static constexpr long long modulus = 1000000007;
    static long long power(long long base, long long exponent) {
        long long result = 1;
        for (; exponent; exponent >>= 1, base = base * base % modulus)
            if (exponent & 1) result = result * base % modulus;
        return result;
    }
public:
    long long waysToSow(long long pots, long long seeds) {
        if (2 * seeds > pots) return 0;
        long long above = pots, below = pots - seeds;
        for (long long i = 1; i <= seeds; ++i) {
            above = above * (pots - seeds - i + 1) % modulus;
            below = below * i % modulus;
        }
        return above * power(below, modulus - 2) % modulus;
    }
};
