class Solution:
    def steadiest(self, heights, sway):
        best = [0, 0]
        for start in range(len(heights)):
            for stop in range(start + 1, len(heights) + 1):
                part = heights[start:stop]
                if max(part) - min(part) <= sway and stop - start > best[1]:
                    best = [start, stop - start]
        return best
