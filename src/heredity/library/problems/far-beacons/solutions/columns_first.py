from math import isqrt


class Solution:
    def ropeLength(self, beacons):
        low, high = {}, {}
        for x, y in beacons:
            if y < low.get(x, y + 1):
                low[x] = y
            if y > high.get(x, y - 1):
                high[x] = y
        columns = sorted(low)

        def bent(values, sign):
            chain = []
            for x in columns:
                y = values[x]
                while len(chain) > 1:
                    (a, b), (c, d) = chain[-2:]
                    if sign * ((c - a) * (y - b) - (d - b) * (x - a)) > 0:
                        break
                    chain.pop()
                chain.append((x, y))
            return chain

        bottom, top = bent(low, 1), bent(high, -1)
        hull = bottom + top[::-1]
        hull = [p for i, p in enumerate(hull) if p != hull[i - 1]] or hull[:1]
        n, k, far = len(hull), 1 % len(hull), 0
        for i in range(n):
            (x, y), (u, v) = hull[i], hull[(i + 1) % n]
            for _ in range(2 * n):
                (c, d), (e, f) = hull[k], hull[(k + 1) % n]
                far = max(far, (c - x) ** 2 + (d - y) ** 2, (c - u) ** 2 + (d - v) ** 2)
                if (u - x) * (f - d) - (v - y) * (e - c) <= 0:
                    break
                k = (k + 1) % n
        return isqrt(far - 1) + 1 if far else 0
