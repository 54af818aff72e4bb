class Solution:
    def rings(self, follows, beads):
        mod = 10**9 + 7

        def times(a, b):
            return [[sum(x * y for x, y in zip(row, column)) % mod for column in zip(*b)] for row in a]

        base = [[int(cell) for cell in row] for row in follows]
        row, beads = [[1] * len(base)], beads - 1
        while beads:
            if beads & 1:
                row = times(row, base)
            base = times(base, base)
            beads >>= 1
        return sum(row[0]) % mod
