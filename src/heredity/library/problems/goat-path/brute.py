class Solution:
    def longest(self, heights, leap):
        best = 0
        ways = [[(r, c)] for r in range(len(heights)) for c in range(len(heights[0]))]
        for way in ways:
            best = max(best, len(way))
            row, column = way[-1]
            for r in range(len(heights)):
                for c in range(len(heights[0])):
                    near = abs(r - row) + abs(c - column) == 1
                    if near and 1 <= heights[r][c] - heights[row][column] <= leap:
                        ways.append([*way, (r, c)])
        return best
