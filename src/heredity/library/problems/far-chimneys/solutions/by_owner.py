class Solution:
    def longestWalk(self, chimneys):
        mine = [(x, y) for x, y, owner in chimneys if owner]
        others = [(x, y) for x, y, owner in chimneys if not owner]
        best = 0
        for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            best = max(best, max(a * x + b * y for x, y in mine) + max(-a * x - b * y for x, y in others))
        return best
