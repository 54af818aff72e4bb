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
        size = range(len(step))

        def power(exponent):
            if exponent == 0:
                return [[int(i == j) for j in size] for i in size]
            if exponent % 2:
                left, right = power(exponent - 1), step
            else:
                left = right = power(exponent // 2)
            turned = list(map(list, zip(*right)))
            return [[sum([x * y for x, y in zip(row, column)]) % P for column in turned] for row in left]

        return sum(power(strokes)[0]) % P
