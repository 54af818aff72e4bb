class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = [b - a for a, b in zip(stones, stones[1:])]
        low, high = 1, max(gaps)
        while low < high:
            middle = (low + high) // 2
            if sum(gap // middle for gap in gaps) <= more:
                high = middle
            else:
                low = middle + 1
        return low
