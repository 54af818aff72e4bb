class Solution:
    def waysUp(self, rungs):
        ways = [1, 1, 1, 1]
        for _ in range(rungs):
            ways.append((ways[-1] + ways[-4]) % 1_000_000_007)
        return ways[rungs]
