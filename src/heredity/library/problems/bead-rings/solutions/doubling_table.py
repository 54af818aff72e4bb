class Solution:
    def rings(self, follows, beads):
        mod, size = 10**9 + 7, len(follows)
        table = [[[int(cell) for cell in row] for row in follows]]
        while 2 << len(table) - 1 <= beads:
            last = table[-1]
            table.append(
                [[sum(last[i][k] * last[k][j] for k in range(size)) % mod for j in range(size)] for i in range(size)]
            )
        total = 0
        for colour in range(size):
            row = [int(i == colour) for i in range(size)]
            for step, matrix in enumerate(table):
                if beads >> step & 1:
                    row = [sum(row[i] * matrix[i][j] for i in range(size)) % mod for j in range(size)]
            total += row[colour]
        return total % mod
