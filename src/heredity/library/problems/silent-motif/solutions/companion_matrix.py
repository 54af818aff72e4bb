P = 1_000_000_007


class Solution:
    def peals(self, bells, motif, strokes):
        size = len(motif)
        own = [int(motif[k:] == motif[: size - k]) for k in range(size)] + [1]
        rule = [(bells * own[k] - own[k + 1]) % P for k in range(size)]
        step = [rule] + [[int(j == i) for j in range(size)] for i in range(size - 1)]
        latest = [pow(bells, size - 1 - i, P) for i in range(size)]
        if strokes < size:
            return latest[size - 1 - strokes]
        strokes -= size - 1
        while strokes:
            if strokes & 1:
                latest = [sum(x * y for x, y in zip(row, latest)) % P for row in step]
            square = []
            for row in step:
                total = [0] * size
                for factor, other in zip(row, step):
                    if factor:
                        total = [t + factor * o for t, o in zip(total, other)]
                square.append([t % P for t in total])
            step = square
            strokes >>= 1
        return latest[0]
