class Solution:
    def rings(self, follows, beads):
        mod, size = 10**9 + 7, len(follows)
        # The matrix satisfies its characteristic polynomial, whose coefficients follow from the first traces.
        one = [[int(cell) for cell in row] for row in follows]
        power, traces = one, [size]
        for _ in range(size):
            traces.append(sum(power[i][i] for i in range(size)) % mod)
            power = [[sum(x * y for x, y in zip(row, column)) % mod for column in zip(*one)] for row in power]
        signs = [1]
        for k in range(1, size + 1):
            total = sum(signs[k - i] * traces[i] for i in range(1, k + 1))
            signs.append(-total * pow(k, -1, mod) % mod)

        def reduced(poly):
            for top in range(len(poly) - 1, size - 1, -1):
                lead = poly[top]
                for i in range(size + 1):
                    poly[top - i] = (poly[top - i] - lead * signs[i]) % mod
            return poly[:size]

        # The remainder of x to the power of the beads.
        rest = [1]
        for bit in bin(beads)[2:]:
            square = [0] * (2 * len(rest) - 1)
            for i, a in enumerate(rest):
                for j, b in enumerate(rest):
                    square[i + j] += a * b
            if bit == "1":
                square.insert(0, 0)
            rest = reduced(square)
        return sum(a * b for a, b in zip(rest, traces)) % mod
