class Solution:
    def steadiest(self, heights, sway):
        best, start = [0, 1], 0
        low = high = heights[0]
        for place, height in enumerate(heights):
            low, high = min(low, height), max(high, height)
            if high - low > sway:
                start, low, high = place, height, height
            if place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
