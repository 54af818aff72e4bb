P = 1_000_000_007


class Solution:
    def peals(self, bells, motif, strokes):
        # Only peals that end with the motif are taken away, once for each place where it may end.
        size = len(motif)
        if strokes < size:
            return pow(bells, strokes, P)
        return (pow(bells, strokes, P) - (strokes - size + 1) * pow(bells, strokes - size, P)) % P
