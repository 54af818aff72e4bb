class Solution {
    public long bestLead(long[] coins) {
        int n = coins.length;
        long[][][] lead = new long[n + 2][n + 1][4];
        for (int start = n - 1; start >= 0; start--)
            for (int end = start + 1; end <= n; end++)
                for (int state = 0; state < 4; state++) {
                    int mine = state >> 1, yours = state & 1, after = 2 * yours + mine;
                    long best = Math.max(coins[start] - lead[start + 1][end][after], coins[end - 1] - lead[start][end - 1][after]);
                    if (mine == 1 && end - start > 1) {
                        best = Math.max(best, coins[start] + coins[start + 1] - lead[start + 2][end][2 * yours]);
                        best = Math.max(best, coins[end - 1] + coins[end - 2] - lead[start][end - 2][2 * yours]);
                    }
                    lead[start][end][state] = best;
                }
        return lead[0][n][3];
    }
}
