class Solution:
    def waysUp(self, rungs):
        a, b, c, d = 1, 1, 1, 2
        for _ in range(rungs):
            a, b, c, d = b, c, d, d + a
        return a % 1_000_000_007
