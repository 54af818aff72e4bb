class Solution {
public:
    long long fewestCuts(vector<long long>& ribbons) {
        long long piece = 0;
        for (long long ribbon : ribbons) piece = __gcd(piece, ribbon);
        int cuts = 0;
        for (long long ribbon : ribbons) cuts += int(ribbon / piece - 1);
        return cuts;
    }
};
