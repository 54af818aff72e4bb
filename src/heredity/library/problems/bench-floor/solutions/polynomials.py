class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        modulus = 1_000_000_007
        closed = {(row, column) for row, column in pillars}
        ways = {0: [1] + [0] * stools}

        def add(target, mask, counts):
            if mask in target:
                target[mask] = [(a + b) % modulus for a, b in zip(target[mask], counts)]
            else:
                target[mask] = counts

        for column in range(columns):
            for row in range(rows):
                bit, following = 1 << row, {}
                for mask, counts in ways.items():
                    if mask & bit:
                        add(following, mask ^ bit, counts) if (row, column) not in closed else None
                    elif (row, column) in closed:
                        add(following, mask, counts)
                    else:
                        add(following, mask, [0, *counts[:-1]])
                        if column + 1 < columns and (row, column + 1) not in closed:
                            add(following, mask | bit, counts)
                        if row + 1 < rows and not mask & 2 * bit:
                            add(following, mask | 2 * bit, counts)
                ways = following
        return ways.get(0, [0] * (stools + 1))[stools]
