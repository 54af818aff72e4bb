class Solution {
public:
    long long rings(vector<string>& follows, long long beads) {
        const unsigned mod = 1000000007;
        int n = follows.size();
        typedef vector<vector<unsigned>> Matrix;
        auto times = [&](const Matrix& a, const Matrix& b) {
            Matrix c(n, vector<unsigned>(n));
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) {
                    unsigned sum = 0;
                    for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
                    c[i][j] = sum % mod;
                }
            return c;
        };
        Matrix base(n, vector<unsigned>(n)), power = base;
        for (int i = 0; i < n; ++i) {
            power[i][i] = 1;
            for (int j = 0; j < n; ++j) base[i][j] = follows[i][j] == '1';
        }
        for (; beads; beads >>= 1) {
            if (beads & 1) power = times(power, base);
            base = times(base, base);
        }
        unsigned long long sum = 0;
        for (int i = 0; i < n; ++i) sum += power[i][i];
        return sum % mod;
    }
};
