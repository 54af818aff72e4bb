from bisect import bisect_left


class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = sorted(b - a - 1 for a, b in zip(stones, stones[1:]))
        low, high = 1, gaps[-1] + 1
        while low < high:
            middle = (low + high) // 2
            if sum(gap // middle for gap in gaps[bisect_left(gaps, middle) :]) <= more:
                high = middle
            else:
                low = middle + 1
        return low
