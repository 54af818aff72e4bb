class Solution {
    private static final long M = 1_000_000_007L;
    private long[] factorial, inverse;
    private long paths(long down, long right) {
        if (down < 0 || right < 0) return 0;
        return factorial[(int) (down + right)] * inverse[(int) down] % M * inverse[(int) right] % M;
    }
    public long routes(long rows, long columns, long[][] closed) {
        int size = (int) (rows + columns) + 1, count = closed.length;
        factorial = new long[size];
        inverse = new long[size];
        factorial[0] = factorial[1] = inverse[0] = inverse[1] = 1;
        for (int i = 2; i < size; i++) {
            factorial[i] = factorial[i - 1] * i % M;
            inverse[i] = (M - M / i) * inverse[(int) (M % i)] % M;
        }
        for (int i = 2; i < size; i++) inverse[i] = inverse[i] * inverse[i - 1] % M;
        Arrays.sort(closed, (a, b) -> a[0] != b[0] ? Long.compare(a[0], b[0]) : Long.compare(a[1], b[1]));
        long[] ways = new long[count + 1];
        for (int i = 0; i <= count; i++) {
            long row = i < count ? closed[i][0] : rows - 1, column = i < count ? closed[i][1] : columns - 1;
            ways[i] = paths(row, column);
            for (int j = 0; j < i; j++) ways[i] = (ways[i] + (M - ways[j]) * paths(row - closed[j][0], column - closed[j][1])) % M;
        }
        return ways[count];
    }
}
