from math import gcd


class Solution:
    def singleMarks(self, drives):
        def alone(n, a, b):
            marks = n // a
            return marks - marks // (b // gcd(a, b))

        return [alone(n, a, b) + alone(n, b, a) for n, a, b in drives]
