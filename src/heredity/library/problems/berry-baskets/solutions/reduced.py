from functools import reduce
from operator import xor


class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        whole = reduce(xor, (basket % size for basket in baskets))
        return sum(
            (goal := basket % size ^ whole) <= most and 0 < (basket - goal) % size <= basket for basket in baskets
        )
