class Solution {
    public long payable(long[] tolls, long coin, long least) {
        int count = tolls.length;
        long[] rests = new long[count + 1];
        for (int i = 0; i < count; i++) rests[i + 1] = Math.floorMod(rests[i] + tolls[i], coin);
        Map<Long, Integer> seen = new HashMap<>();
        long answer = 0;
        for (int stop = (int) least; stop <= count; stop++) {
            seen.merge(rests[stop - (int) least], 1, Integer::sum);
            answer += seen.getOrDefault(rests[stop], 0);
        }
        return answer;
    }
}
