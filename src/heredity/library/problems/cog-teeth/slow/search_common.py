class Solution:
    def singleMarks(self, drives):
        found = []
        for n, a, b in drives:
            both = a
            while both % b:
                both += a
            found.append(n // a + n // b - 2 * (n // both))
        return found
