class Solution:
    def steadiest(self, heights, sway):
        best, start = [0, 0], 0
        for place in range(len(heights)):
            while True:
                part = heights[start : place + 1]
                if max(part) - min(part) <= sway:
                    break
                start += 1
            if place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
