class Solution {
    private int[] above;

    private int find(int x) {
        while (above[x] != x) x = above[x] = above[above[x]];
        return x;
    }

    public long lie(long count, long[][] sayings) {
        int n = (int) count;
        above = new int[2 * n];
        for (int i = 0; i < 2 * n; i++) above[i] = i;
        for (int i = 0; i < sayings.length; i++) {
            int a = (int) sayings[i][0], b = (int) sayings[i][1], turn = sayings[i][2] == 1 ? n : 0;
            above[find(a)] = find((b + turn) % (2 * n));
            above[find(a + n)] = find((b + n + turn) % (2 * n));
            if (find(a) == find(a + n)) return i;
        }
        return -1;
    }
}
