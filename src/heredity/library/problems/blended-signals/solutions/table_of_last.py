from itertools import accumulate


class Solution:
    def blends(self, signals):
        table = [[place if signal >> lamp & 1 else 0 for place, signal in enumerate(signals, 1)] for lamp in range(30)]
        return sum(sum(accumulate(row, max)) << lamp for lamp, row in enumerate(table))
