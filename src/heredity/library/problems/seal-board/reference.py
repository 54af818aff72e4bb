class Solution:
    def waysToSeal(self, size, worn):
        whole = (1 << size) - 1
        free = [whole] * size
        for row, column in worn:
            free[row] &= ~(1 << column)

        def ways(row, columns, left, right):
            if row == size:
                return 1
            total, open_squares = 0, free[row] & ~(columns | left | right)
            while open_squares:
                bit = open_squares & -open_squares
                open_squares ^= bit
                total += ways(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1)
            return total

        return ways(0, 0, 0, 0)
