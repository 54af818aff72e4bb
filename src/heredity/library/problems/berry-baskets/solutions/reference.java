class Solution {
    public long winningMoves(long[] baskets, long most) {
        long size = most + 1, whole = 0, moves = 0;
        for (long basket : baskets) whole ^= basket % size;
        if (whole == 0) return 0;
        for (long basket : baskets) {
            long here = basket % size, goal = here ^ whole;
            if (goal < here || goal <= most && here + size - goal <= basket) moves++;
        }
        return moves;
    }
}
