class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        whole = 0
        for basket in baskets:
            whole ^= basket % size
        if not whole:
            return 0
        moves = 0
        for basket in baskets:
            here = basket % size
            goal = here ^ whole
            if goal < here or goal <= most and here + size - goal <= basket:
                moves += 1
        return moves
