from itertools import accumulate


class Solution:
    def water(self, walls, drains):
        cuts = sorted({0, *drains, len(walls) - 1})
        total = 0
        for low, high in zip(cuts, cuts[1:]):
            part = walls[low : high + 1]
            left = accumulate(part, max)
            right = list(accumulate(reversed(part), max))[::-1]
            total += sum(map(min, left, right)) - sum(part)
        return total
