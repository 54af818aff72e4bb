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
        # Rows of the powers of the moves by rows: each power is made of the one before, and only its first row in the end.
        step = moves(bells, motif)
        powers = []
        while 1 << len(powers) <= strokes:
            powers.append(step)
            twice = []
            for row in step:
                total = [0] * len(step)
                for factor, other in zip(row, step):
                    if factor:
                        for j, value in enumerate(other):
                            total[j] += factor * value
                twice.append([value % P for value in total])
            step = twice
        ends = [1] * len(step)
        for number, matrix in enumerate(powers):
            if strokes >> number & 1:
                ends = [sum(value * end for value, end in zip(row, ends)) % P for row in matrix]
        return ends[0]
