class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = [b - a - 1 for a, b in zip(stones, stones[1:])]
        step = 0
        for bit in range(40, -1, -1):
            if sum(gap // (step + (1 << bit)) for gap in gaps) > more:
                step += 1 << bit
        return step + 1
