from math import isqrt
from random import Random


class Solution:
    def closest(self, stalls):
        points = list(map(tuple, stalls))
        Random(7).shuffle(points)
        (a, b), (c, d) = points[:2]
        best, many = (a - c) ** 2 + (b - d) ** 2, 0
        size, cells = isqrt(best) + 1, {}
        for number, (x, y) in enumerate(points):
            column, row, old = x // size, y // size, best
            for i in (column - 1, column, column + 1):
                for j in (row - 1, row, row + 1):
                    for a, b in cells.get((i, j), ()):
                        far = (a - x) ** 2 + (b - y) ** 2
                        if far < best:
                            best, many = far, 1
                        elif far == best:
                            many += 1
            if best < old:
                # Smaller cells: all that were seen are sorted in anew.
                size, cells = isqrt(best) + 1, {}
                for a, b in points[:number]:
                    cells.setdefault((a // size, b // size), []).append((a, b))
            cells.setdefault((x // size, y // size), []).append((x, y))
        return [best, many]
