class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        values = [basket % size for basket in baskets]
        whole = 0
        for value in values:
            whole ^= value
        moves = 0
        for basket, value in zip(baskets, values):
            goal = value ^ whole
            taken = (basket - goal) % size
            if goal <= most and 0 < taken <= basket:
                moves += 1
        return moves
