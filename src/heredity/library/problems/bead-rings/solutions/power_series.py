class Solution:
    def rings(self, follows, beads):
        mod, size = 10**9 + 7, len(follows)
        one = [[int(cell) for cell in row] for row in follows]
        # Coefficients of det(1 - x A), by the traces of the powers; then one coefficient of a quotient of polynomials.
        work, below, traces = one, [1], [size]
        for k in range(1, size + 1):
            trace = sum(work[i][i] for i in range(size))
            traces.append(trace)
            below.append(-sum(below[k - i] * traces[i] for i in range(1, k + 1)) * pow(k, mod - 2, mod) % mod)
            work = [[sum(x * one[k][j] for k, x in enumerate(row)) for j in range(size)] for row in work]

        def product(a, b):
            out = [0] * (len(a) + len(b) - 1)
            for i, x in enumerate(a):
                for j, y in enumerate(b):
                    out[i + j] += x * y
            return [x % mod for x in out]

        above = [sum(below[i] * traces[k - i] for i in range(k + 1)) % mod for k in range(size)]
        while beads:
            mirrored = [-x if i % 2 else x for i, x in enumerate(below)]
            above = product(above, mirrored)[beads % 2 :: 2]
            below = product(below, mirrored)[::2]
            beads //= 2
        return above[0] * pow(below[0], -1, mod) % mod if above else 0
