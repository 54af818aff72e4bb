class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        whole = 0
        for basket in baskets:
            whole ^= basket - basket // size * size
        if whole == 0:
            return 0
        low = [basket for basket in baskets if basket < size]
        high = [basket % size for basket in baskets if basket >= size]
        return sum(basket ^ whole < basket for basket in low) + sum(value ^ whole <= most for value in high)
