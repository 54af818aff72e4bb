class Solution:
    def waysToSeal(self, size, worn):
        blocked = [[False] * size for _ in range(size)]
        for row, column in worn:
            blocked[row][column] = True
        columns, sums, gaps = [False] * size, [False] * 2 * size, [False] * 2 * size

        def ways(row):
            if row == size:
                return 1
            total = 0
            for c in range(size):
                if not (columns[c] or sums[row + c] or gaps[row - c] or blocked[row][c]):
                    columns[c] = sums[row + c] = gaps[row - c] = True
                    total += ways(row + 1)
                    columns[c] = sums[row + c] = gaps[row - c] = False
            return total

        return ways(0)
