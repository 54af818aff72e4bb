class Solution:
    def waysToSeal(self, size, worn):
        hit = []
        for row in range(size):
            for column in range(size):
                mask = 0
                for r in range(row + 1, size):
                    for c in (column, column + r - row, column - r + row):
                        if 0 <= c < size:
                            mask |= 1 << r * size + c
                hit.append(mask)
        blocked = 0
        for row, column in worn:
            blocked |= 1 << row * size + column

        def ways(row, taken):
            if row == size:
                return 1
            total = 0
            for square in range(row * size, row * size + size):
                if not taken >> square & 1:
                    total += ways(row + 1, taken | hit[square])
            return total

        return ways(0, blocked)
