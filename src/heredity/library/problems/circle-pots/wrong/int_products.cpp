class Solution {
public:
    long long waysToSow(long long pots, long long seeds) {
        const int modulus = 1000000007;
        if (2 * seeds > pots) return 0;
        auto power = [&](int base, int exponent) {
            int result = 1;
            for (; exponent; exponent >>= 1, base = int(unsigned(base) * unsigned(base) % modulus))
                if (exponent & 1) result = int(unsigned(result) * unsigned(base) % modulus);
            return result;
        };
        unsigned above = unsigned(pots), below = unsigned(pots - seeds);
        for (int i = 1; i <= seeds; ++i) above = above * unsigned(pots - seeds - i + 1) % modulus, below = below * i % modulus;
        return above * unsigned(power(below, modulus - 2)) % modulus;
    }
};
