class Solution:
    def rings(self, follows, beads):
        # A row of a matrix is one long number, 96 bits for a cell: a row is added in one step.
        mod, size, width = 10**9 + 7, len(follows), 96
        mask = (1 << width) - 1

        def packed(row):
            return sum(cell << width * j for j, cell in enumerate(row))

        def cells(number):
            return [(number >> width * j & mask) % mod for j in range(size)]

        def times(a, b):
            rows = [packed(row) for row in b]
            return [cells(sum(x * y for x, y in zip(row, rows))) for row in a]

        base = [[int(cell) for cell in row] for row in follows]
        power = None
        while beads:
            if beads & 1:
                power = times(power, base) if power else base
            base = times(base, base)
            beads >>= 1
        return sum(power[i][i] for i in range(size)) % mod
