class Solution:
    def waysUp(self, rungs):
        def ways(left, tired):
            if left <= 0:
                return int(left == 0)
            return ways(left - 1, False) + (0 if tired else ways(left - 3, True))

        return ways(rungs, False) % 1_000_000_007
