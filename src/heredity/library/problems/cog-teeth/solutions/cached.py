from functools import cache
from math import gcd


class Solution:
    def singleMarks(self, drives):
        @cache
        def both(a, b):
            return a * b // gcd(a, b)

        return [n // a + n // b - 2 * (n // both(min(a, b), max(a, b))) for n, a, b in drives]
