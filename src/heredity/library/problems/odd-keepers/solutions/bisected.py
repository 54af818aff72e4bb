from bisect import bisect_right


class Solution:
    def stillLit(self, lamps):
        sides = range(1, 10**6 + 1)
        once = bisect_right(sides, lamps, key=lambda side: side * side)
        return once + bisect_right(sides, lamps, key=lambda side: 2 * side * side)
