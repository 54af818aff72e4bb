from functools import cache


class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        factorial = [1]
        for number in range(1, rows + columns):
            factorial.append(factorial[-1] * number % modulus)
        stops = sorted([*closed, [rows - 1, columns - 1]])

        @cache
        def inverse(number):
            return pow(factorial[number], modulus - 2, modulus)

        def paths(down, right):
            return factorial[down + right] * inverse(down) * inverse(right) % modulus if min(down, right) >= 0 else 0

        @cache
        def free(place):
            row, column = stops[place]
            blocked = sum(free(i) * paths(row - stops[i][0], column - stops[i][1]) for i in range(place))
            return (paths(row, column) - blocked) % modulus

        return free(len(stops) - 1)
