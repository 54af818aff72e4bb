class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        closed = {(row, column) for row, column in pillars}
        shift, keep = 40, (1 << 40 * (stools + 1)) - 1

        def reduced(number):
            return sum(
                (number >> shift * used & (1 << shift) - 1) % 1_000_000_007 << shift * used
                for used in range(stools + 1)
            )

        ways = [1] + [0] * ((1 << rows) - 1)
        for column in range(columns):
            for row in range(rows):
                following = [0] * (1 << rows)
                bit = 1 << row
                for mask, counts in enumerate(ways):
                    if not counts:
                        continue
                    if (row, column) in closed:
                        if not mask & bit:
                            following[mask] += counts
                    elif mask & bit:
                        following[mask ^ bit] += counts
                    else:
                        following[mask] += counts << shift & keep
                        if column + 1 < columns:
                            following[mask | bit] += counts
                        if row + 1 < rows and not mask & 2 * bit:
                            following[mask | 2 * bit] += counts
                ways = [reduced(counts) if counts else 0 for counts in following]
        return ways[0] >> shift * stools
