from bisect import bisect_left, insort


class Solution:
    def steadiest(self, heights, sway):
        window, start, best = [], 0, [0, 0]
        for place, height in enumerate(heights):
            insort(window, height)
            while window[-1] - window[0] > sway:
                del window[bisect_left(window, heights[start])]
                start += 1
            if len(window) > best[1]:
                best = [start, len(window)]
        return best
