class Solution:
    def rings(self, follows, beads):
        mod, size = 10**9 + 7, len(follows)

        def times(a, b):
            columns = list(zip(*b))
            return [[sum(x * y for x, y in zip(row, column)) % mod for column in columns] for row in a]

        one = [[int(cell) for cell in row] for row in follows]

        def power(count):
            if not count:
                return [[int(i == j) for j in range(size)] for i in range(size)]
            half = power(count // 2)
            half = times(half, half)
            return times(half, one) if count & 1 else half

        # The diagonal of a product needs no whole product.
        half, rest = power(beads // 2), power(beads - beads // 2)
        return sum(x * y for row, column in zip(half, zip(*rest)) for x, y in zip(row, column)) % mod
