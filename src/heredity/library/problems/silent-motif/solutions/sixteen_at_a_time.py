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
        step = moves(bells, motif)
        size = len(step)

        def moved(vector, matrix):
            return [sum(v * row[j] for v, row in zip(vector, matrix)) % P for j in range(size)]

        # By hexadecimal digits: up to 15 steps of a vector with the 16th powers of a matrix.
        vector = [1] + [0] * (size - 1)
        while strokes:
            for _ in range(strokes % 16):
                vector = moved(vector, step)
            strokes //= 16
            for _ in range(4 if strokes else 0):
                step = [moved(row, step) for row in step]
        return sum(vector) % P
