class Solution:
    def longest(self, heights, leap):
        # All leaps, by the height that they end on: whoever leaps on has been leapt on before.
        rows, columns = len(heights), len(heights[0])
        leaps = []
        for row in range(rows):
            for column in range(columns):
                here, height = row * columns + column, heights[row][column]
                for r, c in ((row + 1, column), (row, column + 1)):
                    if r < rows and c < columns and 0 < abs(heights[r][c] - height) <= leap:
                        there, other = r * columns + c, heights[r][c]
                        leaps.append((other, here, there) if other > height else (height, there, here))
        leaps.sort()
        stands = [1] * (rows * columns)
        for _, here, there in leaps:
            if stands[there] <= stands[here]:
                stands[there] = stands[here] + 1
        return max(stands)
