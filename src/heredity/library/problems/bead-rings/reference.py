class Solution:
    def rings(self, follows, beads):
        mod = 10**9 + 7

        def times(a, b):
            columns = list(zip(*b))
            return [[sum(x * y for x, y in zip(row, column)) % mod for column in columns] for row in a]

        base = [[int(cell) for cell in row] for row in follows]
        power = [[int(i == j) for j in range(len(base))] for i in range(len(base))]
        while beads:
            if beads & 1:
                power = times(power, base)
            base = times(base, base)
            beads >>= 1
        return sum(power[i][i] for i in range(len(power))) % mod
