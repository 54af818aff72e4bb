P = 1_000_000_007


class Solution:
    def peals(self, bells, motif, strokes):
        size = len(motif)
        moves = [k for k in range(1, size) if motif[k:] == motif[: size - k]]
        # The latest terms, the newest last: peals, and those in which the motif is heard at the end for the first time.
        free, ended = [0] * (size - 1) + [1], [0] * size
        for _ in range(strokes):
            new = (free[0] - sum(ended[-k] for k in moves)) % P
            ended = [*ended[1:], new]
            free = [*free[1:], (bells * free[-1] - new) % P]
        return free[-1]
