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
            here = heights[row][column]
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= r < rows and 0 <= c < columns and (r, c) not in seen:
                    heappush(heap, (max(far, abs(heights[r][c] - here)), r, c))
        return None
