from math import gcd


class Solution:
    def singleMarks(self, drives):
        found = []
        for n, a, b in drives:
            found.append(n // a + n // b - 2 * (n * gcd(a, b) // (a * b)))
        return found
