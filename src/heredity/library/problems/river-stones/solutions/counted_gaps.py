from collections import Counter


class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = list(Counter(b - a - 1 for a, b in zip(stones, stones[1:])).items())
        low, high = 1, max(gaps)[0] + 1
        while low < high:
            middle = (low + high) // 2
            if sum(gap // middle * count for gap, count in gaps) <= more:
                high = middle
            else:
                low = middle + 1
        return low
