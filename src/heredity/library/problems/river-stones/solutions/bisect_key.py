from bisect import bisect_left


class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = [b - a - 1 for a, b in zip(stones, stones[1:])]
        return 1 + bisect_left(range(1, 10**12 + 1), -more, key=lambda step: -sum(gap // step for gap in gaps))
