class Solution:
    def closest(self, stalls):
        # Columns as wide as the best so far, each sorted by y.
        best = 1 << 63
        for row in (sorted(map(tuple, stalls)), sorted(map(tuple, stalls), key=lambda point: point[::-1])):
            for (a, b), (c, d) in zip(row, row[1:]):
                best = min(best, (a - c) ** 2 + (b - d) ** 2)
        wide = int(best**0.5) + 1
        columns = {}
        for x, y in stalls:
            columns.setdefault(x // wide, []).append((y, x))
        for column in columns.values():
            column.sort()
        counts = {}
        for number, column in columns.items():
            for shift in (0, 1):
                other = columns.get(number + shift, ())
                low = 0
                for i, (y, x) in enumerate(column):
                    if shift:
                        while low < len(other) and other[low][0] < y - wide:
                            low += 1
                        j = low
                    else:
                        j = i + 1
                    while j < len(other) and other[j][0] <= y + wide:
                        far = (other[j][0] - y) ** 2 + (other[j][1] - x) ** 2
                        if far <= best:
                            best = far
                            counts[far] = counts.get(far, 0) + 1
                        j += 1
        return [best, counts[best]]
