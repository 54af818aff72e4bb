class Solution:
    def waysToSeal(self, size, worn):
        whole = (1 << size) - 1
        free = [whole] * size + [0]
        for row, column in worn:
            free[row] &= ~(1 << column)
        stack, total = [(0, 0, 0, 0)], 0
        while stack:
            row, columns, left, right = stack.pop()
            if row == size:
                total += 1
                continue
            squares = free[row] & ~(columns | left | right)
            while squares:
                bit = squares & -squares
                squares -= bit
                stack.append((row + 1, columns | bit, (left | bit) << 1 & whole, (right | bit) >> 1))
        return total
