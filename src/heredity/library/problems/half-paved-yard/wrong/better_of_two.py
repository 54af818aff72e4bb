class Solution:
    def slabs(self, yard):
        def most(yard):
            free = [[field == "." for field in row] for row in yard]
            found = 0
            for r, row in enumerate(free):
                for c in range(len(row)):
                    if row[c] and c + 1 < len(row) and row[c + 1]:
                        row[c] = row[c + 1] = False
                        found += 1
                    elif row[c] and r + 1 < len(free) and free[r + 1][c]:
                        row[c] = free[r + 1][c] = False
                        found += 1
            return found

        return max(most(yard), most(["".join(column) for column in zip(*yard)]))
