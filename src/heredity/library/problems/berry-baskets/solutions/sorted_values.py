from itertools import groupby


class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        whole = 0
        for value, group in groupby(sorted(basket % size for basket in baskets)):
            if len(list(group)) & 1:
                whole ^= value
        moves = 0
        for basket in sorted(baskets):
            goal = basket % size ^ whole
            if goal != basket % size and goal <= most:
                moves += goal < basket % size or basket >= size
        return moves
