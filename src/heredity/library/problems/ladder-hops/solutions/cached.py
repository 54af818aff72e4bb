from functools import cache


class Solution:
    def waysUp(self, rungs):
        @cache
        def ways(left):
            return (1, 1, 1, 2)[left] if left < 4 else (ways(left - 1) + ways(left - 4)) % 1_000_000_007

        for rung in range(rungs):
            ways(rung)
        return ways(rungs)
