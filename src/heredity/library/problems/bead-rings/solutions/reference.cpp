class Solution {
public:
    long long rings(vector<string>& follows, long long beads) {
        const long long mod = 1000000007;
        int n = follows.size();
        typedef vector<vector<long long>> Matrix;
        auto times = [&](const Matrix& a, const Matrix& b) {
            Matrix c(n, vector<long long>(n));
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                    for (int k = 0; k < n; ++k) c[i][j] = (c[i][j] + a[i][k] * b[k][j]) % mod;
            return c;
        };
        Matrix base(n, vector<long long>(n)), power = base;
        for (int i = 0; i < n; ++i) {
            power[i][i] = 1;
            for (int j = 0; j < n; ++j) base[i][j] = follows[i][j] == '1';
        }
        for (; beads; beads >>= 1) {
            if (beads & 1) power = times(power, base);
            base = times(base, base);
        }
        long long sum = 0;
        for (int i = 0; i < n; ++i) sum += power[i][i];
        return sum % mod;
    }
};
