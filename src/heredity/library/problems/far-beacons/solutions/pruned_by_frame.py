from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        frame = [
            f(beacons, key=k)
            for f in (min, max)
            for k in (lambda p: p[0], lambda p: p[1], lambda p: p[0] + p[1], lambda p: p[0] - p[1])
        ]
        order = sorted(set(map(tuple, frame)))

        def chain(points):
            hull = []
            for p in points:
                while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (p[1] - hull[-2][1]) <= (
                    hull[-1][1] - hull[-2][1]
                ) * (p[0] - hull[-2][0]):
                    hull.pop()
                hull.append(p)
            return hull[:-1]

        inner = chain(order) + chain(order[::-1])
        sides = list(zip(inner, inner[1:] + inner[:1]))
        kept = [
            p
            for p in set(map(tuple, beacons))
            if any((c - a) * (p[1] - b) <= (d - b) * (p[0] - a) for (a, b), (c, d) in sides)
        ]
        kept.sort()
        hull = chain(kept) + chain(kept[::-1])
        if len(hull) < 2:
            return 0
        n, k, far = len(hull), 1, 0
        for i in range(n):
            (x, y), (u, v) = hull[i], hull[(i + 1) % n]
            while True:
                (c, d), (e, f) = hull[k], hull[(k + 1) % n]
                far = max(far, (c - x) ** 2 + (d - y) ** 2, (c - u) ** 2 + (d - v) ** 2)
                if (u - x) * (f - d) - (v - y) * (e - c) <= 0:
                    break
                k = (k + 1) % n
        return isqrt(far - 1) + 1
