from math import lcm


class Solution:
    def singleMarks(self, drives):
        return [round(n / a + n / b - 2 * (n / lcm(a, b))) for n, a, b in drives]
