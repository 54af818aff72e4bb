class Solution {
    public long leastGlue(long[] widths) {
        int n = widths.length;
        long[] sums = new long[n + 1];
        for (int i = 0; i < n; i++) sums[i + 1] = sums[i] + widths[i];
        long[][] best = new long[n + 1][n + 1];
        for (int i = n - 1; i >= 0; i--)
            for (int j = i + 2; j <= n; j++) {
                best[i][j] = Long.MAX_VALUE;
                for (int k = i + 1; k < j; k++)
                    best[i][j] = Math.min(best[i][j], best[i][k] + best[k][j] + Math.max(sums[k] - sums[i], sums[j] - sums[k]));
            }
        return best[0][n];
    }
}
