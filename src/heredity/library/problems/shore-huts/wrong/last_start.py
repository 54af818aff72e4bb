class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        best, stack = [(-(10**10), 0)] * (count + 1), [-1]
        for place in range(count + 1):
            height = heights[place] if place < count else -(10**10)
            while len(stack) > 1 and heights[stack[-1]] >= height:
                lowest = heights[stack.pop()]
                start = stack[-1] + 1
                best[place - start] = max(best[place - start], (lowest, start))
            stack.append(place)
        for length in range(count - 1, 0, -1):
            best[length] = max(best[length], best[length + 1])
        return [start for _, start in best[1:]]
