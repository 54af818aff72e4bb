from itertools import product


class Solution:
    def peals(self, bells, motif, strokes):
        size, wanted = len(motif), tuple(motif)
        count = 0
        for peal in product(range(1, bells + 1), repeat=strokes):
            count += all(peal[i : i + size] != wanted for i in range(strokes - size + 1))
        return count % 1_000_000_007
