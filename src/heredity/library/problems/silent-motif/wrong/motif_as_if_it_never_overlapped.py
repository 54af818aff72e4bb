P = 1_000_000_007


class Solution:
    def peals(self, bells, motif, strokes):
        # peals(n) = bells * peals(n - 1) - peals(n - size)
        size = len(motif)
        step = [[0] * size for _ in range(size)]
        step[0][0] = bells
        step[0][-1] -= 1
        for i in range(1, size):
            step[i][i - 1] = 1
        vector = [pow(bells, size - 1 - i, P) for i in range(size)]
        if strokes < size:
            return pow(bells, strokes, P)
        strokes -= size - 1
        while strokes:
            if strokes % 2:
                vector = [sum(a * b for a, b in zip(row, vector)) % P for row in step]
            columns = list(zip(*step))
            step = [[sum(a * b for a, b in zip(row, column)) % P for column in columns] for row in step]
            strokes //= 2
        return vector[0]
