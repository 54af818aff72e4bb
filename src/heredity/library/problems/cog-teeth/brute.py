class Solution:
    def singleMarks(self, drives):
        return [sum((mark % a == 0) != (mark % b == 0) for mark in range(1, n + 1)) for n, a, b in drives]
