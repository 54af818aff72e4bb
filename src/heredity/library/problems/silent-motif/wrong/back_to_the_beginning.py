P = 1_000_000_007


class Solution:
    def peals(self, bells, motif, strokes):
        # A stroke that does not fit makes the ringer forget all that he has heard but itself.
        size = len(motif)
        step = [[0] * size for _ in range(size)]
        for state in range(size):
            if state + 1 < size:
                step[state][state + 1] += 1
            again = int(size > 1 and motif[state] != motif[0])
            step[state][0] += bells - 1 - again
            if again:
                step[state][1] += 1
        vector = [1] + [0] * (size - 1)
        while strokes:
            columns = list(zip(*step))
            if strokes % 2:
                vector = [sum(a * b for a, b in zip(vector, column)) % P for column in columns]
            step = [[sum(a * b for a, b in zip(row, column)) % P for column in columns] for row in step]
            strokes //= 2
        return sum(vector) % P
