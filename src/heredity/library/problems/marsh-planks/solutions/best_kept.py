from heapq import heappop, heappush


class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        best = [[10**10] * columns for _ in range(rows)]
        heap = []
        for row in range(rows):
            best[row][0] = 0
            heap.append((0, row, 0))
        while heap:
            far, row, column = heappop(heap)
            if far > best[row][column]:
                continue
            for r, c in ((row, column + 1), (row + 1, column), (row - 1, column), (row, column - 1)):
                if 0 <= r < rows and 0 <= c < columns:
                    there = max(far, abs(heights[r][c] - heights[row][column]))
                    if there < best[r][c]:
                        best[r][c] = there
                        heappush(heap, (there, r, c))
        return min(row[-1] for row in best)
