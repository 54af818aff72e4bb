from collections import Counter


class Solution:
    def waysToSeal(self, size, worn):
        whole = (1 << size) - 1
        layer = Counter({(0, 0, 0): 1})
        for row in range(size):
            free = whole
            for one, column in worn:
                if one == row:
                    free &= ~(1 << column)
            following = Counter()
            for (columns, left, right), ways in layer.items():
                squares = free & ~(columns | left | right)
                while squares:
                    bit = squares & -squares
                    squares ^= bit
                    following[columns | bit, (left | bit) << 1 & whole, (right | bit) >> 1] += ways
            layer = following
        return sum(layer.values())
