from heapq import heappop, heappush


class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        heap, seen = [(0, row, 0) for row in range(rows)], set()
        while heap:
            far, row, column = heappop(heap)
            if (row, column) in seen:
                continue
            if column == columns - 1:
                return far
            seen.add((row, column))
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= r < rows and 0 <= c < columns:
                    heappush(heap, (far + abs(heights[r][c] - heights[row][column]), r, c))
        return None
