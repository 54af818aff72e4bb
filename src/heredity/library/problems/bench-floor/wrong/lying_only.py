class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        closed = {(row, column) for row, column in pillars}
        ways = [1] + [0] * stools
        for row in range(rows):
            line = [[1] + [0] * stools]
            for column in range(columns):
                if (row, column) in closed:
                    line.append(line[-1])
                    continue
                now = [0] + line[-1][:-1]
                if column and (row, column - 1) not in closed:
                    now = [a + b for a, b in zip(now, line[-2])]
                line.append(now)
            ways = [
                sum(ways[i] * line[-1][used - i] for i in range(used + 1)) % 1_000_000_007 for used in range(stools + 1)
            ]
        return ways[stools]
