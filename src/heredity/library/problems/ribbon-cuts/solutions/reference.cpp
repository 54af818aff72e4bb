class Solution {
public:
    long long fewestCuts(vector<long long>& ribbons) {
        long long piece = 0, sum = 0;
        for (long long ribbon : ribbons) piece = __gcd(piece, ribbon);
        for (long long ribbon : ribbons) sum += ribbon / piece - 1;
        return sum;
    }
};
