from math import isqrt


class Solution:
    def closest(self, stalls):
        # First the distance, by halving with strips; then the pairs by cells of that size.
        points = sorted(map(tuple, stalls))

        def least(row, by_y):
            if len(row) < 4:
                return min(
                    ((a - c) ** 2 + (b - d) ** 2 for i, (a, b) in enumerate(row) for c, d in row[:i]), default=1 << 63
                )
            middle = len(row) // 2
            edge = row[middle]
            left, right = [p for p in by_y if p < edge], [p for p in by_y if p >= edge]
            best = min(least(row[:middle], left), least(row[middle:], right))
            strip = [p for p in by_y if (p[0] - edge[0]) ** 2 < best]
            for i, (a, b) in enumerate(strip):
                for c, d in strip[i + 1 : i + 8]:
                    best = min(best, (a - c) ** 2 + (b - d) ** 2)
            return best

        best = least(points, sorted(points, key=lambda point: point[1]))
        size = isqrt(best) + 1
        cells, many = {}, 0
        for x, y in points:
            column, row = x // size, y // size
            for i in (column - 1, column):
                for j in (row - 1, row, row + 1):
                    for a, b in cells.get((i, j), ()):
                        many += (a - x) ** 2 + (b - y) ** 2 == best
            cells.setdefault((column, row), []).append((x, y))
        return [best, many]
