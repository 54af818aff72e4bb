from math import lcm


class Solution:
    def singleMarks(self, drives):
        return [n // a + n // b - n // lcm(a, b) for n, a, b in drives]
