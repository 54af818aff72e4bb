from bisect import bisect_left, bisect_right


class Solution:
    def lonely(self, gloves):
        ordered = sorted(gloves)
        alone = 0
        for size in set(map(abs, gloves)):
            left = bisect_right(ordered, size) - bisect_left(ordered, size)
            right = bisect_right(ordered, -size) - bisect_left(ordered, -size)
            alone += abs(left - right)
        return alone
