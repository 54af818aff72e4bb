from collections import deque


class Solution:
    def steadiest(self, heights, sway):
        def first(length):
            """The first steady stretch of a length, or None."""
            low, high = deque(), deque()
            for place, height in enumerate(heights):
                while low and heights[low[-1]] >= height:
                    low.pop()
                while high and heights[high[-1]] <= height:
                    high.pop()
                low.append(place)
                high.append(place)
                start = place + 1 - length
                if start >= 0:
                    if low[0] < start:
                        low.popleft()
                    if high[0] < start:
                        high.popleft()
                    if heights[high[0]] - heights[low[0]] <= sway:
                        return start
            return None

        small, large = 1, len(heights) + 1
        while large - small > 1:
            middle = (small + large) // 2
            if first(middle) is None:
                large = middle
            else:
                small = middle
        return [first(small), small]
