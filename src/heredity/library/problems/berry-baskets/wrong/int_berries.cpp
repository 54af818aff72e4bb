class Solution {
public:
    long long winningMoves(vector<long long>& baskets, long long most) {
        int size = int(most + 1), whole = 0, moves = 0;
        if (size == 0) size = 1;
        for (long long basket : baskets) whole ^= int(basket) % size;
        if (!whole) return 0;
        for (long long basket : baskets) {
            int here = int(basket) % size, goal = here ^ whole;
            moves += goal < here || (goal <= most && here + (long long)size - goal <= basket);
        }
        return moves;
    }
};
