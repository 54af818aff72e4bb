from collections import deque


class Solution:
    def steadiest(self, heights, sway):
        low, high, start, best = deque(), deque(), 0, [0, 1]
        for place, height in enumerate(heights):
            while low and low[-1][0] > height:
                low.pop()
            while high and high[-1][0] < height:
                high.pop()
            low.append((height, place))
            high.append((height, place))
            if high[0][0] - low[0][0] > sway:
                if low[0][1] == start:
                    low.popleft()
                if high[0][1] == start:
                    high.popleft()
                start += 1
            elif place + 1 - start > best[1]:
                best = [start, place + 1 - start]
        return best
