class Solution:
    def winningMoves(self, baskets, most):
        size, whole = most + 1, 0
        for basket in baskets:
            whole ^= basket % size
        moves = 0
        for basket in baskets:
            rest = whole ^ basket % size
            for taken in range(1, min(most, basket) + 1):
                if (basket - taken) % size == rest:
                    moves += 1
        return moves
