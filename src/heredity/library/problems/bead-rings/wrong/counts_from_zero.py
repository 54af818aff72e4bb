class Solution:
    def rings(self, follows, beads):
        mod, size = 10**9 + 7, len(follows)

        def times(a, b):
            return [[sum(x * y for x, y in zip(row, column)) % mod for column in zip(*b)] for row in a]

        base = [[int(cell) for cell in row] for row in follows]
        row, beads = [[1] + [0] * (size - 1)], beads
        while beads:
            if beads & 1:
                row = times(row, base)
            base = times(base, base)
            beads >>= 1
        return row[0][0] * size % mod
