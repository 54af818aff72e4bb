from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        points = sorted(set(map(tuple, beacons)))

        def chain(order):
            hull = []
            for x, y in order:
                while len(hull) > 1:
                    (a, b), (c, d) = hull[-2], hull[-1]
                    if (c - a) * (y - b) > (d - b) * (x - a):
                        break
                    hull.pop()
                hull.append((x, y))
            return hull

        if len(points) == 1:
            return 0
        lower, upper = chain(points), chain(points[::-1])
        hull = lower[:-1] + upper[:-1]
        count, other, far = len(hull), 1, 0
        for i, (x, y) in enumerate(hull):
            u, v = hull[(i + 1) % count]
            while True:
                a, b = hull[other]
                c, d = hull[(other + 1) % count]
                far = max(far, (a - x) ** 2 + (b - y) ** 2, (a - u) ** 2 + (b - v) ** 2)
                if (u - x) * (d - b) <= (v - y) * (c - a):
                    break
                other = (other + 1) % count
        return isqrt(far - 1) + 1
