class Solution:
    def waysToSeal(self, size, worn):
        blocked = {tuple(square) for square in worn}

        def ways(order, columns):
            row = len(order)
            if row == size:
                return 1
            return sum(
                ways([*order, c], range(size))
                for c in columns
                if (row, c) not in blocked and all(c != o and abs(c - o) != row - r for r, o in enumerate(order))
            )

        return 2 * ways([], range(size // 2)) + size % 2
