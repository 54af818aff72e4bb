from itertools import combinations


class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        best = {(1 << i, i): pay[i][0] for i in range(count)}
        for size in range(2, count + 1):
            for group in combinations(range(count), size):
                used = sum(1 << i for i in group)
                for i in group:
                    rest = used ^ 1 << i
                    best[used, i] = pay[i][size - 1] + min(best[rest, j] + quarrel[j][i] for j in group if j != i)
        whole = (1 << count) - 1
        return min(best[whole, i] for i in range(count))
