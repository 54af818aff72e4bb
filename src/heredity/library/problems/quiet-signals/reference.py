from collections import Counter


class Solution:
    def pairs(self, signals, limit):
        counts, total = Counter(signals), 0
        while limit:
            if limit & 1:
                # Pairs that agree with limit above this bit, and have 0 here.
                partner = limit ^ 1
                if partner:
                    total += sum(many * counts.get(value ^ partner, 0) for value, many in counts.items())
                else:
                    total += sum(many * (many - 1) for many in counts.values())
            halved = {}
            for value, many in counts.items():
                halved[value >> 1] = halved.get(value >> 1, 0) + many
            counts, limit = halved, limit >> 1
        return total // 2
