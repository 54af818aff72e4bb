from operator import mul


class Solution:
    def rings(self, follows, beads):
        mod = 10**9 + 7

        def times(a, b):
            columns = list(zip(*b))
            return [[sum(map(mul, row, column)) % mod for column in columns] for row in a]

        one = [list(map(int, row)) for row in follows]
        powers = [[[int(i == j) for j in range(len(one))] for i in range(len(one))]]
        for _ in range(9):
            powers.append(times(powers[-1], one))
        result = powers[0]
        for digit in map(int, str(beads)):
            square = times(result, result)
            fourth = times(square, square)
            result = times(times(times(fourth, fourth), square), powers[digit])
        return sum(row[i] for i, row in enumerate(result)) % mod
