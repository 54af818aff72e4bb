class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        factorial = [1]
        for number in range(1, rows + columns):
            factorial.append(factorial[-1] * number % modulus)
        inverse = [pow(factorial[-1], -1, modulus)]
        for number in range(len(factorial) - 1, 0, -1):
            inverse.append(inverse[-1] * number % modulus)
        inverse = inverse[::-1]
        by_column = {}
        for row, column in closed:
            by_column.setdefault(column, []).append(row)
        by_column.setdefault(columns - 1, []).append(rows - 1)
        done = []
        for column in sorted(by_column):
            for row in sorted(by_column[column]):
                total = factorial[row + column] * inverse[row] % modulus * inverse[column]
                for r, c, before in done:
                    if r <= row:
                        total -= (
                            before
                            * factorial[row - r + column - c]
                            % modulus
                            * inverse[row - r]
                            % modulus
                            * inverse[column - c]
                        )
                done.append((row, column, total % modulus))
        return next(ways for row, column, ways in done if (row, column) == (rows - 1, columns - 1))
