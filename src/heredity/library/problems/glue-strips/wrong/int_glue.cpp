class Solution {
public:
    long long leastGlue(vector<long long>& widths) {
        int n = widths.size();
        vector<unsigned> sums(n + 1);
        for (int i = 0; i < n; ++i) sums[i + 1] = sums[i] + unsigned(widths[i]);
        vector<vector<int>> best(n + 1, vector<int>(n + 1));
        for (int i = n - 1; i >= 0; --i)
            for (int j = i + 2; j <= n; ++j) {
                int least = INT_MAX;
                for (int k = i + 1; k < j; ++k) {
                    int glue = int(unsigned(best[i][k]) + unsigned(best[k][j]) + max(sums[k] - sums[i], sums[j] - sums[k]));
                    least = min(least, glue);
                }
                best[i][j] = least;
            }
        return best[0][n];
    }
};
