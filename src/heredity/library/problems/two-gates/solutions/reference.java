class Solution {
    public long[] twoGates(long[] tolls, long purse) {
        Map<Long, ArrayDeque<Integer>> places = new HashMap<>();
        for (int i = 0; i < tolls.length; i++) places.computeIfAbsent(tolls[i], k -> new ArrayDeque<>()).add(i);
        for (int i = 0; i < tolls.length; i++) {
            places.get(tolls[i]).poll();
            ArrayDeque<Integer> others = places.get(purse - tolls[i]);
            if (others != null && !others.isEmpty()) return new long[] {i, others.peek()};
        }
        return new long[] {-1, -1};
    }
}
