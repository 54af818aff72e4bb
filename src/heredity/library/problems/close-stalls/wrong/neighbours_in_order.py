class Solution:
    def closest(self, stalls):
        points = sorted(map(tuple, stalls))
        found = [(a - c) ** 2 + (b - d) ** 2 for (a, b), (c, d) in zip(points, points[1:])]
        return [min(found), found.count(min(found))]
