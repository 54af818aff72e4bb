from functools import cache


class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        odd = set()
        for basket in baskets:
            odd ^= {basket % size}
        whole = 0
        for value in odd:
            whole ^= value

        @cache
        def wins(basket):
            goal = basket % size ^ whole
            return whole > 0 and goal <= most and (basket - goal) % size <= basket

        return sum(map(wins, baskets))
