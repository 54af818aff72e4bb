class Solution:
    def longestWalk(self, chimneys):
        corners = []
        for owner in (0, 1):
            group = [one for one in chimneys if one[2] == owner]
            for sign in (1, -1):
                corners.append(max(group, key=lambda one: one[0] + sign * one[1]))
                corners.append(min(group, key=lambda one: one[0] + sign * one[1]))
        return max(abs(x - u) + abs(y - v) for x, y, a in corners for u, v, b in corners if a != b)
