class Solution:
    def singleMarks(self, drives):
        found = []
        for n, a, b in drives:
            one, other = a, b
            while other:
                one, other = other, one % other
            found.append(n // a + n // b - n // (a // one * b) * 2)
        return found
