class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        modulus = 1_000_000_007
        closed = {(row, column) for row, column in pillars}
        size = 1 << rows
        # later[left][mask]: ways to furnish the squares from some square on.
        later = [[0] * size for _ in range(stools + 1)]
        later[0][0] = 1
        for place in range(rows * columns - 1, -1, -1):
            column, row = divmod(place, rows)
            bit, free = 1 << row, (row, column) not in closed
            now = []
            for left in range(stools + 1):
                ahead, line = later[left], []
                for mask in range(size):
                    if mask & bit:
                        line.append(ahead[mask ^ bit] if free else 0)
                    elif not free:
                        line.append(ahead[mask])
                    else:
                        total = later[left - 1][mask] if left else 0
                        if column + 1 < columns:
                            total += ahead[mask | bit]
                        if row + 1 < rows and not mask & 2 * bit:
                            total += ahead[mask | 2 * bit]
                        line.append(total % modulus)
                now.append(line)
            later = now
        return later[stools][0]
