class Solution:
    def longestWalk(self, chimneys):
        return max(abs(x - u) + abs(y - v) for x, y, a in chimneys for u, v, b in chimneys if a != b)
