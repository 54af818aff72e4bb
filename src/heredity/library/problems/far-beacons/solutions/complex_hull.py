from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        points = sorted({(x, y) for x, y in beacons})
        if len(points) == 1:
            return 0
        hull = []
        for order in (points, points[::-1]):
            start = len(hull)
            for p in order:
                while len(hull) - start > 1:
                    a, b = hull[-2], hull[-1]
                    if (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0:
                        break
                    hull.pop()
                hull.append(p)
            hull.pop()
        n, k, far = len(hull), 1, 0
        for i in range(n):
            ux, uy = hull[(i + 1) % n][0] - hull[i][0], hull[(i + 1) % n][1] - hull[i][1]
            while ux * (hull[(k + 1) % n][1] - hull[k][1]) > uy * (hull[(k + 1) % n][0] - hull[k][0]):
                k = (k + 1) % n
            for q in (hull[k], hull[(k + 1) % n]):
                for p in (hull[i], hull[(i + 1) % n]):
                    far = max(far, (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2)
        return isqrt(far - 1) + 1
