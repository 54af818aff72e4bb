from itertools import accumulate


class Solution:
    def steadiest(self, heights, sway):
        def each(length, pick):
            """The lowest or the highest of each window, from those of its ends in two blocks."""
            left, right = [], []
            for start in range(0, len(heights), length):
                block = heights[start : start + length]
                left += accumulate(block, pick)
                right += list(accumulate(reversed(block), pick))[::-1]
            return map(pick, right, left[length - 1 :])

        def first(length):
            for start, (low, high) in enumerate(zip(each(length, min), each(length, max))):
                if high - low <= sway:
                    return start
            return None

        small, large, found = 1, len(heights) + 1, 0
        while large - small > 1:
            middle = (small + large) // 2
            start = first(middle)
            if start is None:
                large = middle
            else:
                small, found = middle, start
        return [found, small]
