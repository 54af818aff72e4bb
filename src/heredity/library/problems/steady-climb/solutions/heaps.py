from heapq import heappop, heappush


class Solution:
    def steadiest(self, heights, sway):
        low, high, start, best = [], [], 0, [0, 0]
        for place, height in enumerate(heights):
            heappush(low, (height, place))
            heappush(high, (-height, place))
            while -high[0][0] - low[0][0] > sway:
                start = min(high[0][1], low[0][1]) + 1
                while high[0][1] < start:
                    heappop(high)
                while low[0][1] < start:
                    heappop(low)
            if place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
