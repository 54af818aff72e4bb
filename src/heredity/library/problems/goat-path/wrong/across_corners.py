class Solution:
    def longest(self, heights, leap):
        rows, columns = len(heights), len(heights[0])
        stands = [[1] * columns for _ in range(rows)]
        for height, row, column in sorted((h, r, c) for r, line in enumerate(heights) for c, h in enumerate(line)):
            for r in range(max(row - 1, 0), min(row + 2, rows)):
                for c in range(max(column - 1, 0), min(column + 2, columns)):
                    if 0 < height - heights[r][c] <= leap:
                        stands[row][column] = max(stands[row][column], stands[r][c] + 1)
        return max(map(max, stands))
