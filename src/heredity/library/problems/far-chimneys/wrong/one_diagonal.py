class Solution:
    def longestWalk(self, chimneys):
        sums = [[x + y for x, y, owner in chimneys if owner == one] for one in (0, 1)]
        return max(max(sums[0]) - min(sums[1]), max(sums[1]) - min(sums[0]))
