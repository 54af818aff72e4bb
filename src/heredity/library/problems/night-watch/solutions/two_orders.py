class Solution:
    def unwatched(self, watches):
        starts = sorted(start for start, _ in watches)
        ends = sorted(end for _, end in watches)
        # Behind the i-th end nobody watches if just i watches have started by then.
        best, gap = 0, []
        for end, start in zip(ends, starts[1:]):
            if start - end > best:
                best, gap = start - end, [end, start]
        return gap
