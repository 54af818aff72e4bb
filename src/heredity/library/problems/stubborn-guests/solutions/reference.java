class Solution {
    public boolean[] lit(long lamps, long[][] wishes) {
        int n = (int) lamps, size = 2 * n + 1;
        List<List<Integer>> then = new ArrayList<>();
        for (int node = 0; node < size; node++) then.add(new ArrayList<>());
        for (long[] two : wishes) {
            int a = (int) two[0], b = (int) two[1];
            then.get(n - a).add(n + b);
            then.get(n - b).add(n + a);
        }
        int[] number = new int[size], low = new int[size], group = new int[size], next = new int[size];
        int[] pending = new int[size], trail = new int[size];
        int count = 0, groups = 0, left = 0;
        for (int root = 0; root < size; root++) {
            if (root == n || number[root] > 0) continue;
            int depth = 0;
            trail[depth++] = root;
            while (depth > 0) {
                int here = trail[depth - 1];
                if (number[here] == 0) {
                    number[here] = low[here] = ++count;
                    pending[left++] = here;
                }
                if (next[here] < then.get(here).size()) {
                    int there = then.get(here).get(next[here]++);
                    if (number[there] == 0) trail[depth++] = there;
                    else if (group[there] == 0) low[here] = Math.min(low[here], number[there]);
                    continue;
                }
                depth--;
                if (depth > 0) low[trail[depth - 1]] = Math.min(low[trail[depth - 1]], low[here]);
                if (low[here] != number[here]) continue;
                groups++;
                while (group[here] == 0) group[pending[--left]] = groups;
            }
        }
        boolean[] light = new boolean[n];
        for (int lamp = 1; lamp <= n; lamp++) {
            if (group[n + lamp] == group[n - lamp]) return new boolean[0];
            light[lamp - 1] = group[n + lamp] < group[n - lamp];
        }
        return light;
    }
}
