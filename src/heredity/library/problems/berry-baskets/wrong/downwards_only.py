class Solution:
    def winningMoves(self, baskets, most):
        size, whole = most + 1, 0
        for basket in baskets:
            whole ^= basket % size
        return sum(basket % size ^ whole < basket % size for basket in baskets)
