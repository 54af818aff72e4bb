class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        size = rows + columns
        factorial, inverse = [1], [1]
        for number in range(1, size):
            factorial.append(factorial[-1] * number % modulus)
        inverse = [pow(factorial[-1], modulus - 2, modulus)]
        for number in range(size - 1, 0, -1):
            inverse.append(inverse[-1] * number % modulus)
        inverse.reverse()
        stops = sorted([*closed, [0, 0]], reverse=True)
        ways = []
        for place, (row, column) in enumerate(stops):
            down, right = rows - 1 - row, columns - 1 - column
            total = factorial[down + right] * inverse[down] * inverse[right]
            for i in range(place):
                down, right = stops[i][0] - row, stops[i][1] - column
                if right >= 0:
                    total -= ways[i] * factorial[down + right] * inverse[down] * inverse[right]
            ways.append(total % modulus)
        return ways[-1]
