class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        left, right = [-1] * count, [count] * count
        for place in range(count):
            one = place - 1
            while one >= 0 and heights[one] >= heights[place]:
                one = left[one]
            left[place] = one
        for place in range(count - 1, -1, -1):
            one = place + 1
            while one < count and heights[one] >= heights[place]:
                one = right[one]
            right[place] = one
        best = {}
        for place in range(count):
            length = right[place] - left[place] - 1
            best[length] = max(best.get(length, (-(10**10), 0)), (heights[place], -left[place] - 1))
        out, now = [], (-(10**10), 0)
        for length in range(count, 0, -1):
            now = max(now, best.get(length, now))
            out.append(-now[1])
        return out[::-1]
