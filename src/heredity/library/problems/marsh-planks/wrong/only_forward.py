class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        best = [0] * rows
        for column in range(1, columns):
            best = [max(best[row], abs(heights[row][column] - heights[row][column - 1])) for row in range(rows)]
            for row in range(1, rows):
                best[row] = min(best[row], max(best[row - 1], abs(heights[row][column] - heights[row - 1][column])))
            for row in range(rows - 2, -1, -1):
                best[row] = min(best[row], max(best[row + 1], abs(heights[row][column] - heights[row + 1][column])))
        return min(best)
