import heapq


class Solution:
    def longestWalk(self, chimneys):
        best = 0
        for sign in (1, -1):
            for one in (0, 1):
                low = [x + sign * y for x, y, owner in chimneys if owner == one]
                high = [-x - sign * y for x, y, owner in chimneys if owner != one]
                heapq.heapify(low)
                heapq.heapify(high)
                best = max(best, -high[0] - low[0])
        return best
