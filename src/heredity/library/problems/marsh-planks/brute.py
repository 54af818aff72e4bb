class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        best = {(row, 0): 0 for row in range(rows)}
        changed = True
        while changed:
            changed = False
            for (row, column), high in list(best.items()):
                for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                    if 0 <= r < rows and 0 <= c < columns:
                        there = max(high, abs(heights[row][column] - heights[r][c]))
                        if there < best.get((r, c), 10**18):
                            best[r, c] = there
                            changed = True
        return min(best[row, columns - 1] for row in range(rows))
