from collections import defaultdict


class Solution:
    def longest(self, heights, leap):
        levels = defaultdict(list)
        for row, line in enumerate(heights):
            for column, height in enumerate(line):
                levels[height].append((row, column))
        rows, columns = len(heights), len(heights[0])
        stands = [[1] * columns for _ in range(rows)]
        for height in sorted(levels):
            for row, column in levels[height]:
                mine = stands[row][column] + 1
                for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                    if 0 <= r < rows and 0 <= c < columns and height < heights[r][c] <= height + leap:
                        if stands[r][c] < mine:
                            stands[r][c] = mine
        return max(max(line) for line in stands)
