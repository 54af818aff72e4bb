class Solution:
    def waysUp(self, rungs):
        def ways(left):
            if left < 4:
                return (1, 1, 1, 2)[left]
            return ways(left - 1) + ways(left - 4)

        return ways(rungs) % 1_000_000_007
