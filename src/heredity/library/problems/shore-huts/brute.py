class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        return [
            max(range(count - length + 1), key=lambda start: (min(heights[start : start + length]), -start))
            for length in range(1, count + 1)
        ]
