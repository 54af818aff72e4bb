class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        size = rows * columns
        if columns == 1:
            return 0
        planks = {}
        for row in range(rows):
            for column in range(columns):
                at = row * columns + column
                if column + 1 < columns:
                    planks.setdefault(abs(heights[row][column] - heights[row][column + 1]), []).append((at, at + 1))
                if row + 1 < rows:
                    planks.setdefault(abs(heights[row][column] - heights[row + 1][column]), []).append(
                        (at, at + columns)
                    )
        above = [-1] * size
        # Whether a group has a tussock of the first column (1) and of the last (2).
        ends = [(at % columns == 0) + 2 * (at % columns == columns - 1) for at in range(size)]
        for high in sorted(planks):
            for a, b in planks[high]:
                while above[a] >= 0:
                    a = above[a]
                while above[b] >= 0:
                    b = above[b]
                if a == b:
                    continue
                if above[a] > above[b]:
                    a, b = b, a
                above[a] += above[b]
                above[b] = a
                ends[a] |= ends[b]
                if ends[a] == 3:
                    return high
        return None
