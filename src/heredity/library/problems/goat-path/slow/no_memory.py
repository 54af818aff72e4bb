class Solution:
    def longest(self, heights, leap):
        rows, columns = len(heights), len(heights[0])

        def stands(row, column):
            best = 0
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= r < rows and 0 <= c < columns and 0 < heights[r][c] - heights[row][column] <= leap:
                    best = max(best, stands(r, c))
            return best + 1

        return max(stands(row, column) for row in range(rows) for column in range(columns))
