class Solution:
    def routes(self, rows, columns, closed):
        shut = {tuple(basin) for basin in closed}

        def count(row, column):
            if row >= rows or column >= columns or (row, column) in shut:
                return 0
            if (row, column) == (rows - 1, columns - 1):
                return 1
            return count(row + 1, column) + count(row, column + 1)

        return count(0, 0) % 1_000_000_007
