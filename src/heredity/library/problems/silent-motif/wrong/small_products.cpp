class Solution {
    using Matrix = vector<vector<int>>;
    static const int P = 1000000007;
    static Matrix times(const Matrix& a, const Matrix& b) {
        int n = int(a.size());
        Matrix c(n, vector<int>(n));
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k)
                for (int j = 0; j < n; ++j) c[i][j] = int((c[i][j] + unsigned(a[i][k]) * unsigned(b[k][j])) % P);
        return c;
    }

public:
    long long peals(long long bells, vector<long long>& motif, long long strokes) {
        int n = int(motif.size());
        vector<int> border(n + 1, 0);
        for (int i = 1, k = 0; i < n; ++i) {
            while (k && motif[i] != motif[k]) k = border[k];
            border[i + 1] = k += motif[i] == motif[k];
        }
        Matrix step(n, vector<int>(n)), whole(n, vector<int>(n));
        for (int state = 0; state < n; ++state) {
            whole[state][state] = 1;
            set<long long> heard;
            for (int k = state;; k = border[k]) {
                if (heard.insert(motif[k]).second && k + 1 < n) ++step[state][k + 1];
                if (!k) break;
            }
            step[state][0] += int(bells - (long long)heard.size());
        }
        for (; strokes; strokes /= 2, step = times(step, step))
            if (strokes % 2) whole = times(whole, step);
        long long total = 0;
        for (int value : whole[0]) total += value;
        return total % P;
    }
};
