from fractions import Fraction


class Solution:
    def singleMarks(self, drives):
        return [n // a + n // b - 2 * (n // (a * Fraction(b, a).numerator)) for n, a, b in drives]
