from collections import Counter


class Solution:
    def winningMoves(self, baskets, most):
        size = most + 1
        groups = Counter(baskets)
        whole = 0
        for basket, count in groups.items():
            if count % 2:
                whole ^= basket % size
        moves = 0
        for basket, count in groups.items():
            goal = basket % size ^ whole
            if whole and goal <= most and (basket - goal) % size <= basket:
                moves += count
        return moves
