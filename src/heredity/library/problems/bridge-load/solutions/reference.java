class Solution {
    public long[] heaviest(long[][] crossings) {
        TreeMap<Long, Long> change = new TreeMap<>();
        for (long[] c : crossings) {
            change.merge(c[0], c[2], Long::sum);
            change.merge(c[1] + 1, -c[2], Long::sum);
        }
        long load = 0, most = 0, first = 0;
        for (Map.Entry<Long, Long> one : change.entrySet()) {
            load += one.getValue();
            if (load > most) {
                most = load;
                first = one.getKey();
            }
        }
        return new long[] {first, most};
    }
}
