from itertools import accumulate


class Solution:
    def pairs(self, signals, limit):
        counts = [0] * 65_536
        for signal in signals:
            counts[signal] += 1
        before = [0, *accumulate(counts)]
        total = 0
        for bit in range(17):
            if limit >> bit & 1:
                partner = limit >> bit ^ 1
                for value, many in enumerate(counts):
                    if many:
                        first = (value >> bit ^ partner) << bit
                        if first < 65_536:
                            total += many * (before[min(65_536, first + (1 << bit))] - before[first])
        return (total - (len(signals) if limit else 0)) // 2
