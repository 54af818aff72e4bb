class Solution:
    def longestWalk(self, chimneys):
        best = 0
        for sign in (1, -1):
            sums = [[], []]
            for x, y, owner in chimneys:
                sums[owner].append(x + sign * y)
            best = max(best, max(sums[0]) - min(sums[1]), max(sums[1]) - min(sums[0]))
        return best
