class Solution:
    def slabs(self, yard):
        rows, columns = len(yard), len(yard[0])
        free = [[field == "." for field in row] for row in yard]
        found = 0
        for r in range(rows):
            for c in range(columns):
                if free[r][c]:
                    for a, b in ((r, c + 1), (r + 1, c)):
                        if a < rows and b < columns and free[a][b]:
                            free[r][c] = free[a][b] = False
                            found += 1
                            break
        return found
