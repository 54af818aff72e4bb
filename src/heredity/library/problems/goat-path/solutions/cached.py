from functools import cache


class Solution:
    def longest(self, heights, leap):
        slope = {(r, c): height for r, row in enumerate(heights) for c, height in enumerate(row)}

        @cache
        def below(rock):
            row, column = rock
            top, best = slope[rock], 0
            for near in ((row, column - 1), (row - 1, column), (row, column + 1), (row + 1, column)):
                if top - leap <= slope.get(near, top) < top:
                    best = max(best, below(near))
            return best + 1

        # From the lowest rock on, so that nothing is deep.
        return max(below(rock) for rock in sorted(slope, key=slope.get))
