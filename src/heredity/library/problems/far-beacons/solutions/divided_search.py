from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        points = sorted(set(map(tuple, beacons)))
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

        hull = chain(points) + chain(points[::-1])
        n = len(hull)
        double = hull + hull

        def gap(i, j):
            return (double[i][0] - double[j][0]) ** 2 + (double[i][1] - double[j][1]) ** 2

        # The farthest corner moves on as the corner does: the middle one first, then both sides.
        def search(first, last, low, high):
            if first > last:
                return 0
            middle = (first + last) // 2
            best, place = 0, max(low, middle + 1)
            for j in range(max(low, middle + 1), min(high, middle + n - 1) + 1):
                value = gap(middle, j)
                if value > best:
                    best, place = value, j
            return max(best, search(first, middle - 1, low, place), search(middle + 1, last, place, high))

        far = search(0, n - 1, 1, 2 * n - 1)
        return isqrt(far - 1) + 1
