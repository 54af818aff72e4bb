P = 1_000_000_007


def moves(bells, motif):
    """How many bells lead from having heard so many strokes of the motif to so many others."""
    size = len(motif)
    border = [0] * (size + 1)
    k = 0
    for i in range(1, size):
        while k and motif[i] != motif[k]:
            k = border[k]
        k += motif[i] == motif[k]
        border[i + 1] = k
    step = [[0] * size for _ in range(size)]
    for state in range(size):
        heard, k = set(), state
        while True:
            if motif[k] not in heard:
                heard.add(motif[k])
                if k + 1 < size:
                    step[state][k + 1] += 1
            if not k:
                break
            k = border[k]
        step[state][0] += bells - len(heard)
    return step


class Solution:
    def peals(self, bells, motif, strokes):
        # The matrix of moves satisfies its own characteristic polynomial, so x^strokes is reduced by that.
        step = moves(bells, motif)
        size = len(step)
        last, coefficients = [[0] * size for _ in range(size)], [1]
        for k in range(1, size + 1):
            for i in range(size):
                last[i][i] = (last[i][i] + coefficients[-1]) % P
            columns = list(zip(*last))
            last = [[sum(x * y for x, y in zip(row, column) if x) % P for column in columns] for row in step]
            coefficients.append(-sum(last[i][i] for i in range(size)) * pow(k, -1, P) % P)
        first, vector = [], [1] + [0] * (size - 1)
        for _ in range(size):
            first.append(sum(vector) % P)
            vector = [sum(v * row[j] for v, row in zip(vector, step)) % P for j in range(size)]

        def reduced(poly):
            for top in range(len(poly) - 1, size - 1, -1):
                lead = poly.pop() % P
                for k in range(1, size + 1):
                    poly[top - k] -= lead * coefficients[k]
            return [value % P for value in poly]

        power = [1]
        for bit in bin(strokes)[2:]:
            square = [0] * (2 * len(power) - 1)
            for i, one in enumerate(power):
                for j, other in enumerate(power):
                    square[i + j] += one * other
            power = reduced([0] * (bit == "1") + square)
        return sum(a * b for a, b in zip(power, first)) % P
