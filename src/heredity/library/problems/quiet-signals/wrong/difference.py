from bisect import bisect_left


class Solution:
    def pairs(self, signals, limit):
        # Takes the difference for what disturbs.
        row = sorted(signals)
        return sum(i - bisect_left(row, value - limit + 1, 0, i) for i, value in enumerate(row)) if limit else 0
