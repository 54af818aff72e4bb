class Solution:
    def longestWalk(self, chimneys):
        best = 0
        for key in (lambda one: one[0] + one[1], lambda one: one[0] - one[1]):
            chimneys.sort(key=key)
            ends = [[key(one) for one in chimneys if one[2] == owner] for owner in (0, 1)]
            best = max(best, ends[0][-1] - ends[1][0], ends[1][-1] - ends[0][0])
        return best
