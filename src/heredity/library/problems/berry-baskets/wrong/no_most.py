class Solution:
    def winningMoves(self, baskets, most):
        whole = 0
        for basket in baskets:
            whole ^= basket
        return sum(basket ^ whole < basket and basket - (basket ^ whole) <= most for basket in baskets)
