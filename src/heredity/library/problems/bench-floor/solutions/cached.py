from functools import cache


class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        closed = {(row, column) for row, column in pillars}

        @cache
        def ways(place, mask, left):
            if place == rows * columns:
                return int(mask == 0 and left == 0)
            column, row = divmod(place, rows)
            if (row, column) in closed:
                return 0 if mask & 1 else ways(place + 1, mask >> 1, left)
            if mask & 1:
                return ways(place + 1, mask >> 1, left)
            total = ways(place + 1, mask >> 1, left - 1) if left else 0
            if column + 1 < columns:
                total += ways(place + 1, mask >> 1 | 1 << rows - 1, left)
            if row + 1 < rows and not mask & 2:
                total += ways(place + 1, mask >> 1 | 1, left)
            return total % 1_000_000_007

        return ways(0, 0, stools)
