class Solution {
public:
    long long abacusRoot(vector<long long>& digits, long long base) {
        long long total = accumulate(digits.begin(), digits.end(), 0LL);
        return total ? (total - 1) % (base - 1) + 1 : 0;
    }
};
