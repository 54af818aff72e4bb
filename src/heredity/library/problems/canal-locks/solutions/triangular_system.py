class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        factorial = [1]
        for number in range(1, rows + columns):
            factorial.append(factorial[-1] * number % modulus)
        stops = sorted([*closed, [rows - 1, columns - 1]])
        needed = sorted({abs(a[k] - b[k]) for a in [*stops, [0, 0]] for b in stops for k in (0, 1)})
        inverse = {number: pow(factorial[number], -1, modulus) for number in needed}

        def paths(one, other):
            down, right = other[0] - one[0], other[1] - one[1]
            return factorial[down + right] * inverse[down] * inverse[right] % modulus if down >= 0 and right >= 0 else 0

        rows_of_system = [[paths(one, other) for one in stops[:i]] for i, other in enumerate(stops)]
        values = []
        for other, row in zip(stops, rows_of_system):
            values.append((paths([0, 0], other) - sum(a * b for a, b in zip(row, values))) % modulus)
        return values[-1]
