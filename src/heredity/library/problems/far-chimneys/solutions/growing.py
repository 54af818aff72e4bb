class Solution:
    def longestWalk(self, chimneys):
        best, seen = 0, {}
        for x, y, owner in chimneys:
            if 1 - owner in seen:
                low, high, left, right = seen[1 - owner]
                best = max(best, x + y - low, high - x - y, x - y - left, right - x + y)
            low, high, left, right = seen.get(owner, (x + y, x + y, x - y, x - y))
            seen[owner] = (min(low, x + y), max(high, x + y), min(left, x - y), max(right, x - y))
        return best
