class Solution {
public:
    long long repaint(string sign) {
        long long total = 0;
        for (size_t i = 0, j = sign.size() - 1; i < j; ++i, --j) total += (sign[j] - sign[i] + 26) % 26;
        return total;
    }
};
