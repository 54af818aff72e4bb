from itertools import groupby


class Solution:
    def pairs(self, signals, limit):
        row, total = sorted(signals), 0
        for bit in range(17):
            if limit >> bit & 1:
                sizes = {value: len(list(group)) for value, group in groupby(row, lambda signal: signal >> bit)}
                partner = limit >> bit ^ 1
                for value, many in sizes.items():
                    if partner == 0:
                        total += many * (many - 1) // 2
                    elif value < value ^ partner:
                        total += many * sizes.get(value ^ partner, 0)
        return total
