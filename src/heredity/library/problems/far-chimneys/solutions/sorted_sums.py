class Solution:
    def longestWalk(self, chimneys):
        best = 0
        for sign in (1, -1):
            order = sorted((x + sign * y, owner) for x, y, owner in chimneys)
            first, last = order[0], order[-1]
            low = next(value for value, owner in order if owner != last[1])
            high = next(value for value, owner in reversed(order) if owner != first[1])
            best = max(best, last[0] - low, high - first[0])
        return best
