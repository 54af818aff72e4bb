class Solution:
    def waysToSeal(self, size, worn):
        blocked = {(column, row + 1) for row, column in worn}

        def ways(order):
            row = len(order)
            if row == size:
                return 1
            return sum(
                ways([*order, c])
                for c in range(size)
                if (row, c) not in blocked and all(c != o and abs(c - o) != row - r for r, o in enumerate(order))
            )

        return ways([])
