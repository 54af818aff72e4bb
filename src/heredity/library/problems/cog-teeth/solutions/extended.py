class Solution:
    def singleMarks(self, drives):
        found = []
        for n, a, b in drives:
            rest, following, factor, next_factor = a, b, 1, 0
            while following:
                times = rest // following
                rest, following = following, rest - times * following
                factor, next_factor = next_factor, factor - times * next_factor
            found.append(n // a + n // b - 2 * (n // (a * abs(next_factor))))
        return found
