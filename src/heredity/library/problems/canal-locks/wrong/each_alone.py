from math import comb


class Solution:
    def routes(self, rows, columns, closed):
        whole = comb(rows + columns - 2, rows - 1)
        for row, column in closed:
            whole -= comb(row + column, row) * comb(rows + columns - 2 - row - column, rows - 1 - row)
        return whole % 1_000_000_007
