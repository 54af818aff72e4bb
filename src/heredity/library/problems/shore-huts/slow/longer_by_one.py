class Solution:
    def firstHuts(self, heights):
        lowest, out = heights, []
        while lowest:
            out.append(lowest.index(max(lowest)))
            lowest = [min(a, b) for a, b in zip(lowest, heights[len(out) :])]
        return out
