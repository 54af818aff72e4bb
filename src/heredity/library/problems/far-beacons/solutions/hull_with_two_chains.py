from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        points = sorted(set(map(tuple, beacons)))

        def cross(o, a, b):
            return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

        upper, lower = [], []
        for point in points:
            while len(upper) > 1 and cross(upper[-2], upper[-1], point) >= 0:
                upper.pop()
            while len(lower) > 1 and cross(lower[-2], lower[-1], point) <= 0:
                lower.pop()
            upper.append(point)
            lower.append(point)
        i, j, far = 0, len(lower) - 1, 0
        while i < len(upper) - 1 or j > 0:
            far = max(far, (upper[i][0] - lower[j][0]) ** 2 + (upper[i][1] - lower[j][1]) ** 2)
            if i == len(upper) - 1:
                j -= 1
            elif j == 0:
                i += 1
            elif (upper[i + 1][1] - upper[i][1]) * (lower[j][0] - lower[j - 1][0]) > (lower[j][1] - lower[j - 1][1]) * (
                upper[i + 1][0] - upper[i][0]
            ):
                i += 1
            else:
                j -= 1
        return isqrt(far - 1) + 1 if far else 0
