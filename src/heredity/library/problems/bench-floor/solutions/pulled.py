class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        modulus = 1_000_000_007
        closed = {(row, column) for row, column in pillars}
        masks = range(1 << rows)
        ways = [[int(mask == 0 and used == 0) for mask in masks] for used in range(stools + 1)]
        for place in range(rows * columns):
            column, row = divmod(place, rows)
            bit = 1 << row
            if (row, column) in closed:
                ways = [[0 if mask & bit else line[mask] for mask in masks] for line in ways]
                continue
            following = []
            for used, line in enumerate(ways):
                before, found = ways[used - 1] if used else None, []
                for mask in masks:
                    if mask & bit:
                        found.append(line[mask ^ bit] if column + 1 < columns else 0)
                        continue
                    total = line[mask | bit]
                    if before:
                        total += before[mask]
                    if row + 1 < rows and mask & 2 * bit:
                        total += line[mask ^ 2 * bit]
                    found.append(total % modulus)
                following.append(found)
            ways = following
        return ways[stools][0]
