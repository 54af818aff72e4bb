class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = [b - a - 1 for a, b in zip(stones, stones[1:])]
        low, high = 1, max(gaps) + 1
        while low < high:
            one = low + (high - low) // 3
            other = low + 2 * (high - low) // 3
            if sum(gap // one for gap in gaps) <= more:
                high = one
            elif sum(gap // other for gap in gaps) <= more:
                low, high = one + 1, other
            else:
                low = other + 1
        return low
