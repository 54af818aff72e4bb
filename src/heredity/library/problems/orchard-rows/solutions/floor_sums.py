from math import gcd


class Solution:
    def treesInside(self, fence):
        def floor_sum(n, m, a, b):
            total = 0
            while n > 0:
                total += n * (n - 1) // 2 * (a // m) + n * (b // m)
                a, b = a % m, b % m
                top = a * n + b
                if top < m:
                    break
                n, b, m, a = top // m, top % m, a, m
            return total

        # Trees below the sides, each up to its right end; the fence itself is taken off at last.
        base = min(y for _, y in fence) - 1
        below = felled = 0
        for (x, y), (u, v) in zip(fence, fence[1:] + fence[:1]):
            felled += gcd(u - x, v - y)
            if x == u:
                continue
            sign = 1
            if x > u:
                x, y, u, v, sign = u, v, x, y, -1
            width, rise = u - x, v - y
            shift = max(0, -(rise // width)) * width
            counted = floor_sum(width + 1, width, rise + shift, 0) - shift // width * (width * (width + 1) // 2)
            counted += (y - base) * (width + 1)
            # Half of what stands over both ends, as if the ends were shared with the next side, and half of the line.
            below += sign * (2 * counted - (y - base) - (v - base) - gcd(width, rise))
        return (abs(below) - felled) // 2 + 1
