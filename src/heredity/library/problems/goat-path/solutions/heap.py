from heapq import heapify, heappop


class Solution:
    def longest(self, heights, leap):
        rows, columns = len(heights), len(heights[0])
        heap = [(height, r, c) for r, row in enumerate(heights) for c, height in enumerate(row)]
        heapify(heap)
        stands = {}
        while heap:
            height, row, column = heappop(heap)
            best = 0
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if (r, c) in stands and 0 < height - heights[r][c] <= leap and stands[r, c] > best:
                    best = stands[r, c]
            stands[row, column] = best + 1
        return max(stands.values())
