class Solution:
    def steadiest(self, heights, sway):
        best, start = [0, 1], 0
        for place in range(1, len(heights)):
            if abs(heights[place] - heights[place - 1]) > sway:
                start = place
            if place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
