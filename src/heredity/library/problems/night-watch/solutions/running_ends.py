from itertools import accumulate


class Solution:
    def unwatched(self, watches):
        watches.sort(key=lambda watch: watch[0])
        ends = accumulate((end for _, end in watches), max)
        gaps = [(start - last, -last) for last, (start, _) in zip(ends, watches[1:])]
        longest, last = max(gaps, default=(0, 0))
        return [-last, longest - last] if longest > 0 else []
