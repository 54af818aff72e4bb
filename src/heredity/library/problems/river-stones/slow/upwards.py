class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        step = 1
        while sum((b - a - 1) // step for a, b in zip(stones, stones[1:])) > more:
            step += 1
        return step
