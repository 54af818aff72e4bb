from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        a, b = sum(x for x, _ in beacons) // len(beacons), sum(y for _, y in beacons) // len(beacons)
        order = sorted(((isqrt((x - a) ** 2 + (y - b) ** 2) + 1, x, y) for x, y in beacons), reverse=True)
        far = 0
        for i, (radius, x, y) in enumerate(order):
            for other, u, v in order[:i]:
                if (radius + other) ** 2 < far:
                    break
                far = max(far, (x - u) ** 2 + (y - v) ** 2)
        return isqrt(far - 1) + 1 if far else 0
