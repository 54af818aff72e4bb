class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        left, right, stack = [0] * count, [count] * count, []
        for place, height in enumerate(heights):
            while stack and heights[stack[-1]] > height:
                right[stack.pop()] = place
            left[place] = stack[-1] + 1 if stack else 0
            stack.append(place)
        # Of equal neighbours the first one knows the whole stretch.
        best, starts = [None] * (count + 2), [0] * (count + 2)
        for place, height in enumerate(heights):
            length = right[place] - left[place]
            if best[length] is None or height > best[length]:
                best[length], starts[length] = height, left[place]
        for length in range(count - 1, 0, -1):
            a, b = best[length], best[length + 1]
            if a is None or a < b or a == b and starts[length + 1] < starts[length]:
                best[length], starts[length] = b, starts[length + 1]
        return starts[1 : count + 1]
