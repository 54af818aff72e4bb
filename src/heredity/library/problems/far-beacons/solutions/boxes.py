import heapq
from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        points = list(set(map(tuple, beacons)))
        if len(points) == 1:
            return 0

        def chain(order):
            hull = []
            for p in order:
                while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (p[1] - hull[-2][1]) <= (
                    hull[-1][1] - hull[-2][1]
                ) * (p[0] - hull[-2][0]):
                    hull.pop()
                hull.append(p)
            return hull[:-1]

        points.sort()
        hull = chain(points) + chain(points[::-1])
        lines = hull + hull
        best, place, n = 0, 1, len(hull)
        for i in range(n):
            x, y = lines[i]
            place = max(place, i + 1)
            here = (lines[place][0] - x) ** 2 + (lines[place][1] - y) ** 2
            (u, v) = lines[i + 1]
            while place + 1 < 2 * n:
                (a, b), (c, d) = lines[place], lines[place + 1]
                if (u - x) * (d - b) - (v - y) * (c - a) <= 0:
                    break
                place += 1
                here = max(here, (c - x) ** 2 + (d - y) ** 2, (c - u) ** 2 + (d - v) ** 2)
            best = heapq.nlargest(1, (best, here, (lines[place][0] - u) ** 2 + (lines[place][1] - v) ** 2))[0]
        return isqrt(best - 1) + 1
