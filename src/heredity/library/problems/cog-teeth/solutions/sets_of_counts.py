from math import lcm


class Solution:
    def singleMarks(self, drives):
        found = []
        for n, a, b in drives:
            counts = {1: n // a, 2: n // b, 3: n // lcm(a, b)}
            found.append(sum(sign * counts[part] for part, sign in ((1, 1), (2, 1), (3, -2))))
        return found
