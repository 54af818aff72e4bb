class Solution {
public:
    long long repaint(string sign) {
        long long total = 0;
        for (size_t i = 0, j = sign.size() - 1; i < j; ++i, --j) {
            int apart = abs(sign[i] - sign[j]);
            total += min(apart, 26 - apart);
        }
        return total;
    }
};
