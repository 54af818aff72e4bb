class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        factorial = [1]
        for number in range(1, rows + columns):
            factorial.append(factorial[-1] * number % modulus)

        def paths(down, right):
            if down < 0 or right < 0:
                return 0
            return factorial[down + right] * pow(factorial[down] * factorial[right], -1, modulus) % modulus

        stops, ways = [*closed, [rows - 1, columns - 1]], []
        for place, (row, column) in enumerate(stops):
            total = paths(row, column)
            for (r, c), before in zip(stops[:place], ways):
                total -= before * paths(row - r, column - c)
            ways.append(total % modulus)
        return ways[-1]
