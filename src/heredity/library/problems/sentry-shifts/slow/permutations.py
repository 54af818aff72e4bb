from itertools import permutations


class Solution:
    def leastCost(self, pay, quarrel):
        return min(
            sum(pay[i][p] for p, i in enumerate(order)) + sum(quarrel[i][j] for i, j in zip(order, order[1:]))
            for order in permutations(range(len(pay)))
        )
