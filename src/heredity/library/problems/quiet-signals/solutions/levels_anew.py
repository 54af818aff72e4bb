from collections import Counter


class Solution:
    def pairs(self, signals, limit):
        total = 0
        for bit in range(17):
            if limit >> bit & 1:
                partner = limit >> bit ^ 1
                counts = Counter([signal >> bit for signal in signals])
                total += sum(many * counts.get(value ^ partner, 0) for value, many in counts.items())
        return (total - (len(signals) if limit else 0)) // 2
