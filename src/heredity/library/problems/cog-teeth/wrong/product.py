class Solution:
    def singleMarks(self, drives):
        return [n // a + n // b - 2 * (n // (a * b)) for n, a, b in drives]
