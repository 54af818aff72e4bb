class Solution:
    def longest(self, heights, leap):
        rows, columns = len(heights), len(heights[0])
        seen, order = set(), []

        def downward(row, column):
            seen.add((row, column))
            height = heights[row][column]
            for r, c in ((row + 1, column), (row, column + 1), (row - 1, column), (row, column - 1)):
                if 0 <= r < rows and 0 <= c < columns and (r, c) not in seen and 0 < height - heights[r][c] <= leap:
                    downward(r, c)
            order.append((row, column))

        for row in range(rows):
            for column in range(columns):
                if (row, column) not in seen:
                    downward(row, column)
        stands = [[1] * columns for _ in range(rows)]
        for row, column in order:
            height, mine = heights[row][column], stands[row][column] + 1
            for r, c in ((row + 1, column), (row, column + 1), (row - 1, column), (row, column - 1)):
                if 0 <= r < rows and 0 <= c < columns and 0 < heights[r][c] - height <= leap:
                    stands[r][c] = max(stands[r][c], mine)
        return max(map(max, stands))
