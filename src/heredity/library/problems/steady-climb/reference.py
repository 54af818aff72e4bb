from collections import deque


class Solution:
    def steadiest(self, heights, sway):
        low, high = deque(), deque()
        start, best = 0, (0, 0)
        for place, height in enumerate(heights):
            while low and heights[low[-1]] >= height:
                low.pop()
            while high and heights[high[-1]] <= height:
                high.pop()
            low.append(place)
            high.append(place)
            while heights[high[0]] - heights[low[0]] > sway:
                start = min(low[0], high[0]) + 1
                if low[0] < start:
                    low.popleft()
                if high[0] < start:
                    high.popleft()
            if place + 1 - start > best[1]:
                best = start, place + 1 - start
        return list(best)
