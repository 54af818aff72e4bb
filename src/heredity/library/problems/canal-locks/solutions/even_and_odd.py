class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        factorial = [1]
        for number in range(1, rows + columns):
            factorial.append(factorial[-1] * number % modulus)
        inverse = [1] * len(factorial)
        inverse[-1] = pow(factorial[-1], -1, modulus)
        for number in range(len(factorial) - 1, 0, -1):
            inverse[number - 1] = inverse[number] * number % modulus
        # Chains of closed basins: even ones are added, odd ones taken off.
        stops = [(0, 0), *sorted(map(tuple, closed)), (rows - 1, columns - 1)]
        even, odd = [0] * len(stops), [0] * len(stops)
        even[0] = 1
        for j in range(1, len(stops)):
            row, column = stops[j]
            for i in range(j):
                down, right = row - stops[i][0], column - stops[i][1]
                if right >= 0:
                    paths = factorial[down + right] * inverse[down] % modulus * inverse[right] % modulus
                    odd[j] += even[i] * paths
                    even[j] += odd[i] * paths
            odd[j], even[j] = odd[j] % modulus, even[j] % modulus
        return (odd[-1] - even[-1]) % modulus
