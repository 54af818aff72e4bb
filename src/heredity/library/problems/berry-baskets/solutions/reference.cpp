class Solution {
public:
    long long winningMoves(vector<long long>& baskets, long long most) {
        long long size = most + 1, whole = 0, moves = 0;
        for (long long basket : baskets) whole ^= basket % size;
        if (!whole) return 0;
        for (long long basket : baskets) {
            long long here = basket % size, goal = here ^ whole;
            moves += goal < here || (goal <= most && here + size - goal <= basket);
        }
        return moves;
    }
};
