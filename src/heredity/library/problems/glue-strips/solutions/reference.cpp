class Solution {
public:
    long long leastGlue(vector<long long>& widths) {
        int n = widths.size();
        vector<long long> sums(n + 1);
        for (int i = 0; i < n; ++i) sums[i + 1] = sums[i] + widths[i];
        vector<vector<long long>> best(n + 1, vector<long long>(n + 1));
        for (int i = n - 1; i >= 0; --i)
            for (int j = i + 2; j <= n; ++j) {
                best[i][j] = LLONG_MAX;
                for (int k = i + 1; k < j; ++k)
                    best[i][j] = min(best[i][j], best[i][k] + best[k][j] + max(sums[k] - sums[i], sums[j] - sums[k]));
            }
        return best[0][n];
    }
};
