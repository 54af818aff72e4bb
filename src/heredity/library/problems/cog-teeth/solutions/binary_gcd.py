class Solution:
    def singleMarks(self, drives):
        def common(a, b):
            shift = ((a | b) & -(a | b)).bit_length() - 1
            a >>= (a & -a).bit_length() - 1
            while b:
                b >>= (b & -b).bit_length() - 1
                if a > b:
                    a, b = b, a
                b -= a
            return a << shift

        return [n // a + n // b - 2 * (n // (a * b // common(a, b))) for n, a, b in drives]
