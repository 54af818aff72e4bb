class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        modulus = 1_000_000_007
        free = [(1 << rows) - 1] * columns + [0]
        for row, column in pillars:
            free[column] &= ~(1 << row)
        memory = {}

        def ways(column, left, stools_left):
            """Fill what is left of a column, then the next ones; left are its open squares."""
            if column == columns:
                return int(stools_left == 0)
            return part(column, left, free[column + 1], stools_left)

        def part(column, left, ahead, stools_left):
            if not left:
                return ways(column + 1, ahead, stools_left)
            key = (column, left, ahead, stools_left)
            if key not in memory:
                bit = left & -left
                total = part(column, left ^ bit, ahead, stools_left - 1) if stools_left else 0
                if ahead & bit:
                    total += part(column, left ^ bit, ahead ^ bit, stools_left)
                if left & bit << 1:
                    total += part(column, left ^ bit ^ bit << 1, ahead, stools_left)
                memory[key] = total % modulus
            return memory[key]

        return ways(0, free[0], stools)
