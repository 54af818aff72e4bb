class Solution {
    public long longestWalk(long[][] chimneys) {
        long best = 0, far = 1L << 40;
        for (int sign = -1; sign <= 1; sign += 2) {
            long[] most = {-far, -far}, least = {far, far};
            for (long[] one : chimneys) {
                long sum = one[0] + sign * one[1];
                int owner = (int) one[2];
                most[owner] = Math.max(most[owner], sum);
                least[owner] = Math.min(least[owner], sum);
            }
            best = Math.max(best, Math.max(most[0] - least[1], most[1] - least[0]));
        }
        return best;
    }
}
