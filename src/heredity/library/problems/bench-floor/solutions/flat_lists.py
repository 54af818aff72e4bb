class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        whole, size = 1 << rows, stools + 1
        closed = [[False] * columns for _ in range(rows)]
        for row, column in pillars:
            closed[row][column] = True
        ways = [0] * (whole * size)
        ways[0] = 1
        for place in range(rows * columns):
            column, row = divmod(place, rows)
            following = [0] * (whole * size)
            for index, count in enumerate(ways):
                if count:
                    mask, used = divmod(index, size)
                    if closed[row][column]:
                        if not mask >> row & 1:
                            following[index] += count
                    elif mask >> row & 1:
                        following[index - size * (1 << row)] += count
                    else:
                        if used < stools:
                            following[index + 1] += count
                        if column + 1 < columns:
                            following[index + size * (1 << row)] += count
                        if row + 1 < rows and not mask >> row + 1 & 1:
                            following[index + size * (2 << row)] += count
            ways = [count % 1_000_000_007 for count in following]
        return ways[stools]
