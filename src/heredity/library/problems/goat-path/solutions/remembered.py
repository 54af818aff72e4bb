class Solution:
    def longest(self, heights, leap):
        rows, columns = len(heights), len(heights[0])
        stands = [[0] * columns for _ in range(rows)]

        def upward(row, column):
            if stands[row][column]:
                return stands[row][column]
            height, best = heights[row][column], 0
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= r < rows and 0 <= c < columns and 0 < heights[r][c] - height <= leap:
                    best = max(best, upward(r, c))
            stands[row][column] = best + 1
            return best + 1

        return max(upward(row, column) for row in range(rows) for column in range(columns))
