class Solution:
    def ropeLength(self, beacons):
        points = sorted(set(map(tuple, beacons)))
        if len(points) == 1:
            return 0
        hull = []
        for sign in (1, -1):
            part = []
            for x, y in points[::sign]:
                while len(part) > 1:
                    (a, b), (c, d) = part[-2], part[-1]
                    if (c - a) * (y - b) - (d - b) * (x - a) > 0:
                        break
                    part.pop()
                part.append((x, y))
            hull += part[:-1]
        n, k, far = len(hull), 1, 0
        for i in range(n):
            (x, y), (u, v) = hull[i], hull[(i + 1) % n]
            while True:
                (c, d), (e, f) = hull[k], hull[(k + 1) % n]
                far = max(far, (c - x) ** 2 + (d - y) ** 2, (c - u) ** 2 + (d - v) ** 2)
                if (u - x) * (f - d) - (v - y) * (e - c) <= 0:
                    break
                k = (k + 1) % n
        low, high = 0, 1 << 30
        while low < high:
            middle = (low + high) // 2
            if middle * middle >= far:
                high = middle
            else:
                low = middle + 1
        return low
