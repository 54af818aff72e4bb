class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        best = [[0] * count for _ in range(1 << count)]
        for used in range(1, 1 << count):
            members = [i for i in range(count) if used >> i & 1]
            post = len(members) - 1
            for i in members:
                before = best[used ^ 1 << i]
                rest = [before[j] + quarrel[j][i] for j in members if j != i]
                best[used][i] = pay[i][post] + min(rest, default=0)
        return min(best[-1])
