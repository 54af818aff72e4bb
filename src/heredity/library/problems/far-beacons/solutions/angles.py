from functools import cmp_to_key
from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        points = list(set(map(tuple, beacons)))
        if len(points) == 1:
            return 0
        a, b = first = min(points)
        rest = [p for p in points if p != first]

        def turn(p, q):
            cross = (q[0] - a) * (p[1] - b) - (q[1] - b) * (p[0] - a)
            return cross or (p[0] - a) ** 2 + (p[1] - b) ** 2 - (q[0] - a) ** 2 - (q[1] - b) ** 2

        rest.sort(key=cmp_to_key(turn))
        hull = [first]
        for p in rest:
            while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (p[1] - hull[-2][1]) <= (
                hull[-1][1] - hull[-2][1]
            ) * (p[0] - hull[-2][0]):
                hull.pop()
            hull.append(p)
        n, k, far = len(hull), 1 % len(hull), 0
        for i in range(n):
            (x, y), (u, v) = hull[i], hull[(i + 1) % n]
            while True:
                (c, d), (e, f) = hull[k], hull[(k + 1) % n]
                far = max(far, (c - x) ** 2 + (d - y) ** 2, (c - u) ** 2 + (d - v) ** 2)
                if (u - x) * (f - d) - (v - y) * (e - c) <= 0:
                    break
                k = (k + 1) % n
        return isqrt(far - 1) + 1
