class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        factorial = [1]
        for number in range(2, rows + columns + 1):
            factorial.append(factorial[-1] * (number - 1) % modulus)
        inverse = {}

        def paths(down, right):
            if down < 0 or right < 0:
                return 0
            for number in (down, right):
                if number not in inverse:
                    inverse[number] = pow(factorial[number], -1, modulus)
            return factorial[down + right] * inverse[down] * inverse[right] % modulus

        closed.sort(key=sum)
        closed.append([rows - 1, columns - 1])
        ways = {}
        for row, column in closed:
            total = paths(row, column)
            for (r, c), before in ways.items():
                total -= before * paths(row - r, column - c)
            ways[row, column] = total % modulus
        return ways[rows - 1, columns - 1]
