class Solution:
    def waysToSeal(self, size, worn):
        worn = {tuple(square) for square in worn}

        def ways(row, columns, slopes):
            if row == size:
                return 1
            return sum(
                ways(row + 1, columns | {c}, slopes | {row + c})
                for c in range(size)
                if c not in columns and row + c not in slopes and (row, c) not in worn
            )

        return ways(0, frozenset(), frozenset())
