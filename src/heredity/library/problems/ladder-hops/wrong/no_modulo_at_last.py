class Solution:
    def waysUp(self, rungs):
        ways = [1, 1, 1, 2]
        for _ in range(rungs):
            ways.append(ways[-1] + ways[-4])
        return ways[rungs] % (1 << 61)
