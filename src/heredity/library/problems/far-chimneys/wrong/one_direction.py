class Solution:
    def longestWalk(self, chimneys):
        best = 0
        for sign in (1, -1):
            best = max(
                best,
                max(x + sign * y for x, y, a in chimneys if a) - min(x + sign * y for x, y, a in chimneys if not a),
            )
        return best
