from itertools import accumulate
from operator import xor


class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        values = [basket % size for basket in baskets]
        before = [0, *accumulate(values, xor)]
        after = [*accumulate(reversed(values), xor)][::-1] + [0]
        moves = 0
        for place, basket in enumerate(baskets):
            goal = before[place] ^ after[place + 1]
            taken = (basket - goal) % size
            moves += goal <= most and taken > 0 and taken <= basket
        return moves
