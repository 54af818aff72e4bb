class Solution:
    def winningMoves(self, baskets, most):
        size, whole = most + 1, 0
        for basket in baskets:
            whole ^= basket % size
        return sum(basket % size ^ whole <= most for basket in baskets) if whole else 0
