class Solution:
    def firstHuts(self, heights):
        start = heights.index(max(heights))
        stop, out = start + 1, [start]
        while len(out) < len(heights):
            left = heights[start - 1] if start else -(10**10)
            right = heights[stop] if stop < len(heights) else -(10**10)
            if left >= right:
                start -= 1
            else:
                stop += 1
            out.append(start)
        return out
