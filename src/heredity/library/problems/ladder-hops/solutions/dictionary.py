class Solution:
    def waysUp(self, rungs):
        ways = {-3: 0, -2: 0, -1: 0, 0: 1}
        extra = {0: 1}
        for rung in range(1, rungs + 1):
            extra[rung] = ways[rung - 1]
            ways[rung] = (ways[rung - 1] + extra.get(rung - 3, 0)) % 1_000_000_007
        return ways[rungs]
