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
        whole = [[int(i == j) for j in range(size)] for i in range(size)]
        for bit in bin(strokes)[2:]:
            square = []
            for row in whole:
                total = [0] * size
                for value, other in zip(row, whole):
                    if value:
                        for j in range(size):
                            total[j] += value * other[j]
                square.append([value % P for value in total])
            if bit == "1":
                # A step leads to few states, so this costs little.
                whole = [[0] * size for _ in range(size)]
                for i, row in enumerate(square):
                    for state, value in enumerate(row):
                        for j, ways in enumerate(step[state]):
                            if ways:
                                whole[i][j] = (whole[i][j] + value * ways) % P
            else:
                whole = square
        return sum(whole[0]) % P
