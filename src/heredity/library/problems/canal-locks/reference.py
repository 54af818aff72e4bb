class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        size = rows + columns
        factorial = [1] * (size + 1)
        for number in range(2, size + 1):
            factorial[number] = factorial[number - 1] * number % modulus
        inverse = [pow(factorial[size], -1, modulus)] * (size + 1)
        for number in range(size, 0, -1):
            inverse[number - 1] = inverse[number] * number % modulus
        stops = [*sorted(map(tuple, closed)), (rows - 1, columns - 1)]
        ways = []
        for place, (row, column) in enumerate(stops):
            total = factorial[row + column] * inverse[row] % modulus * inverse[column]
            for other in range(place):
                down, right = row - stops[other][0], column - stops[other][1]
                if right >= 0:
                    total -= ways[other] * factorial[down + right] % modulus * inverse[down] % modulus * inverse[right]
            ways.append(total % modulus)
        return ways[-1]
