from collections import Counter


class Solution:
    def pairs(self, signals, limit):
        counts, total = Counter(signals), 0
        while limit:
            if limit & 1:
                total += sum(many * counts.get(value ^ limit ^ 1, 0) for value, many in counts.items())
            halved = {}
            for value, many in counts.items():
                halved[value >> 1] = halved.get(value >> 1, 0) + many
            counts, limit = halved, limit >> 1
        return total // 2
