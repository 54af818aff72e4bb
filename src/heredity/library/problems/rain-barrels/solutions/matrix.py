class Solution:
    def collected(self, years):
        def times(one, other, m):
            return [[sum(x * y for x, y in zip(row, column)) % m for column in zip(*other)] for row in one]

        found = []
        for a, n, m in years:
            result, step = [[1, 0], [0, 1]], [[a, 1], [0, 1]]
            while n:
                if n & 1:
                    result = times(result, step, m)
                step = times(step, step, m)
                n >>= 1
            found.append(result[0][1] % m)
        return found
