class Solution {
    public long leastCost(long[][] pay, long[][] quarrel) {
        int n = pay.length;
        long[][] best = new long[1 << n][n];
        for (long[] row : best) Arrays.fill(row, 1L << 60);
        for (int i = 0; i < n; i++) best[1 << i][i] = pay[i][0];
        for (int used = 1; used < 1 << n; used++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    if ((used >> i & 1) == 1 && (used >> j & 1) == 0) {
                        int next = used | 1 << j;
                        best[next][j] = Math.min(best[next][j], best[used][i] + pay[j][Integer.bitCount(used)] + quarrel[i][j]);
                    }
        return Arrays.stream(best[(1 << n) - 1]).min().getAsLong();
    }
}
