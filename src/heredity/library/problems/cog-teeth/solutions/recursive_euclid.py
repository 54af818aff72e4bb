class Solution:
    def singleMarks(self, drives):
        def common(a, b):
            return a if b == 0 else common(b, a % b)

        return [n // a + n // b - 2 * (n // (a * b // common(a, b))) for n, a, b in drives]
