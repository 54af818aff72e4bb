P = 1_000_000_007


class Solution:
    def peals(self, bells, motif, strokes):
        # With c(x) = the sum of x^k over all k by which the motif can be moved onto itself, the peals are the coefficients of
        # c(x) / (x^m + (1 - bells x) c(x)).
        size = len(motif)
        above = [int(motif[k:] == motif[: size - k]) for k in range(size)]
        below = [*above, 0]
        for k in range(size):
            below[k + 1] -= bells * above[k]
        below[size] += 1

        def times(a, b):
            product = [0] * (len(a) + len(b) - 1)
            for i, one in enumerate(a):
                for j, other in enumerate(b):
                    product[i + j] += one * other
            return [value % P for value in product]

        # One coefficient of a quotient: times the mirrored denominator every second one of both is left.
        while strokes:
            mirrored = [-value if k % 2 else value for k, value in enumerate(below)]
            above = times(above, mirrored)[strokes % 2 :: 2]
            below = times(below, mirrored)[::2]
            strokes //= 2
        return above[0] * pow(below[0], -1, P) % P if above else 0
