import heapq


class Solution:
    def longestWalk(self, chimneys):
        best = 0
        for sign in (1, -1):
            for one in (0, 1):
                low = heapq.nsmallest(3, (x + sign * y for x, y, owner in chimneys if owner == one))
                high = heapq.nlargest(3, (x + sign * y for x, y, owner in chimneys if owner != one))
                best = max(best, high[0] - low[0])
        return best
