class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        shut = {}
        for row, column in closed:
            shut.setdefault(row, set()).add(column)
        ways = [1] + [0] * (columns - 1)
        for row in range(rows):
            bad = shut.get(row, ())
            before = 0
            for column in range(columns):
                before = 0 if column in bad else (ways[column] + before) % modulus
                ways[column] = before
        return ways[-1]
