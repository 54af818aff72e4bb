class Solution:
    def longestWalk(self, chimneys):
        low = [[10**10, 10**10], [10**10, 10**10]]
        high = [[-(10**10), -(10**10)], [-(10**10), -(10**10)]]
        for x, y, owner in chimneys:
            for axis, value in enumerate((x + y, x - y)):
                low[owner][axis] = min(low[owner][axis], value)
                high[owner][axis] = max(high[owner][axis], value)
        return max(high[owner][axis] - low[1 - owner][axis] for owner in (0, 1) for axis in (0, 1))
