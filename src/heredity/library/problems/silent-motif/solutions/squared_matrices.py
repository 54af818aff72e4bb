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


def times(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) % P for column in columns] for row in a]


class Solution:
    def peals(self, bells, motif, strokes):
        step = moves(bells, motif)
        whole = [[int(i == j) for j in range(len(step))] for i in range(len(step))]
        while strokes:
            if strokes & 1:
                whole = times(whole, step)
            strokes >>= 1
            if strokes:
                step = times(step, step)
        return sum(whole[0]) % P
