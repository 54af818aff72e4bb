class Solution:
    def steadiest(self, heights, sway):
        best, start = [0, 0], 0
        for place, height in enumerate(heights):
            while abs(height - heights[start]) > sway:
                start += 1
            if place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
