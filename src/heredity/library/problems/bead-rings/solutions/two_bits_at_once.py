class Solution:
    def rings(self, follows, beads):
        mod = 10**9 + 7

        def times(a, b):
            columns = [*zip(*b)]
            return [[sum(p * q for p, q in zip(row, column)) % mod for column in columns] for row in a]

        first = [[int(cell) for cell in row] for row in follows]
        second = times(first, first)
        small = [None, first, second, times(second, first)]
        digits = []
        while beads:
            digits.append(beads & 3)
            beads >>= 2
        result = small[digits.pop()]
        for digit in reversed(digits):
            result = times(result, result)
            result = times(result, result)
            if digit:
                result = times(result, small[digit])
        return sum(row[place] for place, row in enumerate(result)) % mod
