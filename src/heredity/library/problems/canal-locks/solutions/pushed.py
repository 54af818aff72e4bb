class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        factorial, inverse = [1], [1, 1]
        for number in range(1, rows + columns):
            factorial.append(factorial[-1] * number % modulus)
        for number in range(2, rows + columns):
            inverse.append((modulus - modulus // number) * inverse[modulus % number] % modulus)
        for number in range(1, rows + columns):
            inverse[number] = inverse[number] * inverse[number - 1] % modulus

        def paths(down, right):
            return factorial[down + right] * inverse[down] % modulus * inverse[right] % modulus

        stops = sorted(map(tuple, closed)) + [(rows - 1, columns - 1)]
        left = [paths(row, column) for row, column in stops]
        for i, (row, column) in enumerate(stops):
            blocked = left[i] % modulus
            for j in range(i + 1, len(stops)):
                r, c = stops[j]
                if c >= column:
                    left[j] -= blocked * paths(r - row, c - column)
        return left[-1] % modulus
