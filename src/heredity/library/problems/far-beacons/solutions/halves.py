from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        def joined(points):
            """The hull of sorted points, from the hulls of their halves."""
            if len(points) > 64:
                middle = len(points) // 2
                points = sorted(set(joined(points[:middle]) + joined(points[middle:])))
            hull = []
            for order in (points, points[::-1]):
                start = len(hull)
                for x, y in order:
                    while len(hull) - start > 1:
                        (a, b), (c, d) = hull[-2], hull[-1]
                        if (c - a) * (y - b) > (d - b) * (x - a):
                            break
                        hull.pop()
                    hull.append((x, y))
                hull.pop()
            return hull or points

        hull = joined(sorted(set(map(tuple, beacons))))
        n, k, far = len(hull), 1 % len(hull), 0
        for i in range(n):
            (x, y), (u, v) = hull[i], hull[(i + 1) % n]
            while True:
                (c, d), (e, f) = hull[k], hull[(k + 1) % n]
                far = max(far, (c - x) ** 2 + (d - y) ** 2, (c - u) ** 2 + (d - v) ** 2)
                if (u - x) * (f - d) - (v - y) * (e - c) <= 0:
                    break
                k = (k + 1) % n
        return isqrt(far - 1) + 1 if far else 0
