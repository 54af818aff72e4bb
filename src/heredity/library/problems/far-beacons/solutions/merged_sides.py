from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        points = sorted(set(map(tuple, beacons)))
        if len(points) == 1:
            return 0

        def half(order):
            hull = []
            for p in order:
                while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (p[1] - hull[-2][1]) <= (
                    hull[-1][1] - hull[-2][1]
                ) * (p[0] - hull[-2][0]):
                    hull.pop()
                hull.append(p)
            return hull

        lower, upper = half(points), half(points[::-1])
        # Sides of the hull and of its mirror image, merged by direction, walk along the differences of its corners.
        far = 0
        i = j = 0
        while True:
            a, b = lower[i], upper[j]
            far = max(far, (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)
            if i == len(lower) - 1 and j == len(upper) - 1:
                break
            if i == len(lower) - 1:
                j += 1
            elif j == len(upper) - 1:
                i += 1
            else:
                s = (lower[i + 1][0] - a[0], lower[i + 1][1] - a[1])
                t = (b[0] - upper[j + 1][0], b[1] - upper[j + 1][1])
                if s[0] * t[1] - s[1] * t[0] > 0:
                    i += 1
                else:
                    j += 1
        return isqrt(far - 1) + 1
