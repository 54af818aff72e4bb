class Solution {
    public long latestArrival(long towns, long[][] roads, long start) {
        List<List<long[]>> leaving = new ArrayList<>();
        for (int town = 0; town < towns; town++) leaving.add(new ArrayList<>());
        for (long[] road : roads) leaving.get((int) road[0]).add(road);
        boolean[] arrived = new boolean[(int) towns];
        PriorityQueue<long[]> waiting = new PriorityQueue<>((a, b) -> Long.compare(a[0], b[0]));
        waiting.add(new long[] {0, start});
        long reached = 0, last = 0;
        while (!waiting.isEmpty()) {
            long[] next = waiting.poll();
            int town = (int) next[1];
            if (arrived[town]) continue;
            arrived[town] = true;
            last = next[0];
            reached++;
            for (long[] road : leaving.get(town))
                if (!arrived[(int) road[1]]) waiting.add(new long[] {last + road[2], road[1]});
        }
        return reached == towns ? last : -1;
    }
}
