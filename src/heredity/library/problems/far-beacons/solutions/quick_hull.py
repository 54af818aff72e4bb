from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        points = list(set(map(tuple, beacons)))
        if len(points) == 1:
            return 0

        def outside(a, b, group):
            """Corners strictly left of a line, in order."""
            if not group:
                return []
            dx, dy = b[0] - a[0], b[1] - a[1]
            far = max(group, key=lambda p: (dx * (p[1] - a[1]) - dy * (p[0] - a[0]), p))
            left = [p for p in group if (far[0] - a[0]) * (p[1] - a[1]) > (far[1] - a[1]) * (p[0] - a[0])]
            right = [p for p in group if (b[0] - far[0]) * (p[1] - far[1]) > (b[1] - far[1]) * (p[0] - far[0])]
            return outside(a, far, left) + [far] + outside(far, b, right)

        a, b = min(points), max(points)
        dx, dy = b[0] - a[0], b[1] - a[1]
        above = [p for p in points if dx * (p[1] - a[1]) > dy * (p[0] - a[0])]
        below = [p for p in points if dx * (p[1] - a[1]) < dy * (p[0] - a[0])]
        hull = [a, *outside(a, b, above), b, *outside(b, a, below)][::-1]
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
