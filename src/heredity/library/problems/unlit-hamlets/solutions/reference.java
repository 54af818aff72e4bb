class Solution {
    public long unlit(long count, long[][] tracks, long[] lamps) {
        List<List<Integer>> near = new ArrayList<>();
        for (int i = 0; i < count; i++) near.add(new ArrayList<>());
        for (long[] track : tracks) {
            near.get((int) track[0]).add((int) track[1]);
            near.get((int) track[1]).add((int) track[0]);
        }
        boolean[] lit = new boolean[(int) count];
        ArrayDeque<Integer> queue = new ArrayDeque<>();
        long dark = count;
        for (long lamp : lamps) {
            if (!lit[(int) lamp]) {
                lit[(int) lamp] = true;
                queue.add((int) lamp);
            }
        }
        while (!queue.isEmpty()) {
            dark--;
            for (int b : near.get(queue.poll())) {
                if (!lit[b]) {
                    lit[b] = true;
                    queue.add(b);
                }
            }
        }
        return dark;
    }
}
