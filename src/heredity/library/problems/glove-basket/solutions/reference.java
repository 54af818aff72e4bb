class Solution {
    public long lonely(long[] gloves) {
        Map<Long, Integer> left = new HashMap<>();
        for (long glove : gloves) left.merge(Math.abs(glove), glove > 0 ? 1 : -1, Integer::sum);
        long alone = 0;
        for (int more : left.values()) alone += Math.abs(more);
        return alone;
    }
}
