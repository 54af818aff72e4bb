class Solution:
    def unwatched(self, watches):
        watches.sort()
        best, gap = 0, []
        for (_, end), (start, _) in zip(watches, watches[1:]):
            if start - end > best:
                best, gap = start - end, [end, start]
        return gap
