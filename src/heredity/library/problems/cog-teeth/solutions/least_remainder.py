class Solution:
    def singleMarks(self, drives):
        found = []
        for n, a, b in drives:
            one, other = max(a, b), min(a, b)
            while other:
                rest = one % other
                one, other = other, min(rest, other - rest)
            found.append(n // a + n // b - 2 * (n // (a // one * b)))
        return found
