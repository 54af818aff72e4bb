class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        best, starts = [-(10**10)] * count, [0] * count
        for start in range(count):
            lowest = heights[start]
            for length in range(count - start):
                lowest = min(lowest, heights[start + length])
                if lowest > best[length]:
                    best[length], starts[length] = lowest, start
        return starts
