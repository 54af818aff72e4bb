class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        modulus = 1_000_000_007
        closed = {(row, column) for row, column in pillars}
        whole = 1 << rows
        # ways[used][mask]: the mask says which of the next squares, one in each row, are taken already.
        ways = [[0] * whole for _ in range(stools + 1)]
        ways[0][0] = 1
        for column in range(columns):
            for row in range(rows):
                bit, down = 1 << row, 1 << row + 1
                following = [[0] * whole for _ in range(stools + 1)]
                for used in range(stools + 1):
                    target = following[used]
                    stool = following[used + 1] if used < stools else None
                    for mask, count in enumerate(ways[used]):
                        if not count:
                            continue
                        if mask & bit:
                            if (row, column) not in closed:
                                target[mask ^ bit] += count
                        elif (row, column) in closed:
                            target[mask] += count
                        else:
                            if column + 1 < columns:
                                target[mask | bit] += count
                            if row + 1 < rows and not mask & down:
                                target[mask | down] += count
                            if stool:
                                stool[mask] += count
                ways = [[count % modulus for count in layer] for layer in following]
        return ways[stools][0]
