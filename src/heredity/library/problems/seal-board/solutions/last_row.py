class Solution:
    def waysToSeal(self, size, worn):
        whole = (1 << size) - 1
        free = [whole] * size
        for row, column in worn:
            free[row] &= whole ^ 1 << column

        def ways(row, columns, left, right):
            squares = free[row] & ~columns & ~left & ~right
            if row == size - 1:
                return squares.bit_count()
            total = 0
            while squares:
                bit = squares & -squares
                squares ^= bit
                total += ways(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1)
            return total

        return ways(0, 0, 0, 0)
