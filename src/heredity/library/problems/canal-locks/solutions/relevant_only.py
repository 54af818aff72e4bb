class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        size = rows + columns - 1
        factorial = [1] * (size + 1)
        for number in range(1, size + 1):
            factorial[number] = number * factorial[number - 1] % modulus
        inverse = factorial[:]
        inverse[size] = pow(factorial[size], modulus - 2, modulus)
        for number in reversed(range(size)):
            inverse[number] = inverse[number + 1] * (number + 1) % modulus
        closed.sort()
        closed.append([rows - 1, columns - 1])
        ways = []
        for row, column in closed:
            total = factorial[row + column] * inverse[row] * inverse[column] % modulus
            part = 0
            for (r, c), before in zip(closed, ways):
                if before and c <= column:
                    part += before * (
                        factorial[row - r + column - c] * inverse[row - r] % modulus * inverse[column - c] % modulus
                    )
            ways.append((total - part) % modulus)
        return ways[-1]
