class Solution:
    def shortestStride(self, stones, more):
        stones.sort()
        gaps = [b - a - 1 for a, b in zip(stones, stones[1:])]

        def added(step):
            count = 0
            for gap in gaps:
                count += gap // step
            return count

        high = 1
        while added(high) > more:
            high *= 2
        low = high // 2 + 1
        while low < high:
            middle = (low + high) // 2
            if added(middle) <= more:
                high = middle
            else:
                low = middle + 1
        return high
