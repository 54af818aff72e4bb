class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        closed = {(row, column) for row, column in pillars}
        layer = {(0, stools): 1}
        for place in range(rows * columns):
            column, row = divmod(place, rows)
            following = {}

            def add(mask, left, count):
                if left >= 0:
                    following[mask, left] = following.get((mask, left), 0) + count

            for (mask, left), count in layer.items():
                taken = mask & 1
                if taken or (row, column) in closed:
                    if not (taken and (row, column) in closed):
                        add(mask >> 1, left, count)
                    continue
                add(mask >> 1, left - 1, count)
                if column + 1 < columns:
                    add(mask >> 1 | 1 << rows - 1, left, count)
                if row + 1 < rows and not mask & 2:
                    add(mask >> 1 | 1, left, count)
            layer = following
        return layer.get((0, 0), 0) % 1_000_000_007
