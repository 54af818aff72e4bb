class Solution:
    def longest(self, heights, leap):
        rows, columns = len(heights), len(heights[0])
        stands = [[1] * columns for _ in range(rows)]
        for height, row, column in sorted((h, r, c) for r, line in enumerate(heights) for c, h in enumerate(line)):
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= r < rows and 0 <= c < columns and 0 <= height - heights[r][c] <= leap:
                    stands[row][column] = max(stands[row][column], stands[r][c] + 1)
        return max(map(max, stands))
