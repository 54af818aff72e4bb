from array import array


class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        factorial = array("q", [1])
        for number in range(1, rows + columns):
            factorial.append(factorial[number - 1] * number % modulus)
        stops = sorted([row, column] for row, column in closed) + [[rows - 1, columns - 1]]
        above, below = [], []
        for row, column in stops:
            below.append(factorial[row] * factorial[column] % modulus)
            above.append(factorial[row + column])
        ways = [a * pow(b, -1, modulus) % modulus for a, b in zip(above, below)]
        for j in range(len(stops)):
            row, column = stops[j]
            numerators, denominators = [], []
            for i in range(j):
                down, right = row - stops[i][0], column - stops[i][1]
                if right >= 0:
                    numerators.append(ways[i] * factorial[down + right] % modulus)
                    denominators.append(factorial[down] * factorial[right] % modulus)
            for a, b in zip(numerators, denominators):
                ways[j] -= a * pow(b, modulus - 2, modulus)
            ways[j] %= modulus
        return ways[-1]
