from bisect import bisect_left
from collections import Counter


class Solution:
    def pairs(self, signals, limit):
        row, total = sorted(signals), 0
        for value, many in Counter(signals).items():
            for bit in range(17):
                if limit >> bit & 1:
                    first = (value >> bit ^ limit >> bit ^ 1) << bit
                    low = bisect_left(row, first)
                    total += many * (bisect_left(row, first + (1 << bit), low) - low)
        return (total - len(signals) * (limit > 0)) // 2
