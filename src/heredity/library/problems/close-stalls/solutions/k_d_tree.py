class Solution:
    def closest(self, stalls):
        points = sorted(map(tuple, stalls))
        best = min((a - c) ** 2 + (b - d) ** 2 for (a, b), (c, d) in zip(points, points[1:]))

        def built(row):
            if len(row) <= 8:
                return row
            # Halved along the longer side.
            xs, ys = [x for x, _ in row], [y for _, y in row]
            axis = int(max(xs) - min(xs) < max(ys) - min(ys))
            row.sort(key=lambda point: point[axis])
            middle = len(row) // 2
            return (axis, row[middle][axis], built(row[:middle]), built(row[middle:]))

        tree = built(points[:])
        for point in points:
            x, y = point
            stack = [tree]
            while stack:
                node = stack.pop()
                if isinstance(node, list):
                    for a, b in node:
                        far = (a - x) ** 2 + (b - y) ** 2
                        if far < best and far:
                            best = far
                    continue
                axis, edge, low, high = node
                away = point[axis] - edge
                if away * away < best:
                    stack += [low, high] if away > 0 else [high, low]
                else:
                    stack.append(high if away > 0 else low)
        # The tree gave the distance; cells of this size give the pairs.
        cells, size, pairs = {}, int(best**0.5) + 1, 0
        for x, y in points:
            for i in (x // size - 1, x // size):
                for j in (y // size - 1, y // size, y // size + 1):
                    pairs += sum((a - x) ** 2 + (b - y) ** 2 == best for a, b in cells.get((i, j), ()))
            cells.setdefault((x // size, y // size), []).append((x, y))
        return [best, pairs]
