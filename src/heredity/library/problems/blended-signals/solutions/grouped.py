from itertools import groupby


class Solution:
    def blends(self, signals):
        total, count = 0, len(signals)
        for lamp in range(30):
            lit = count * (count + 1) // 2
            for on, run in groupby(signal >> lamp & 1 for signal in signals):
                if not on:
                    length = sum(1 for _ in run)
                    lit -= length * (length + 1) // 2
            total += lit << lamp
        return total
