from functools import cache


class Solution:
    def waysToSeal(self, size, worn):
        whole = (1 << size) - 1
        free = [whole] * size
        for row, column in worn:
            free[row] &= ~(1 << column)

        @cache
        def ways(row, columns, left, right):
            if row == size:
                return 1
            squares, total = free[row] & ~(columns | left | right), 0
            for c in range(size):
                bit = 1 << c
                if squares & bit:
                    total += ways(row + 1, columns | bit, (left | bit) << 1 & whole, (right | bit) >> 1)
            return total

        return ways(0, 0, 0, 0)
