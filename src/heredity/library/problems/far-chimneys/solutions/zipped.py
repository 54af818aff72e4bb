class Solution:
    def longestWalk(self, chimneys):
        best = 0
        groups = [list(zip(*(one for one in chimneys if one[2] == owner))) for owner in (0, 1)]
        for sign in (1, -1):
            a, b = ([x + sign * y for x, y in zip(xs, ys)] for xs, ys, _ in groups)
            best = max(best, max(a) - min(b), max(b) - min(a))
        return best
