from math import gcd


class Solution:
    def treesInside(self, fence):
        def along(low, high):
            if high - low == 1:
                (x, y), (u, v) = fence[low - 1], fence[low]
                return x * v - y * u, gcd(u - x, v - y)
            middle = (low + high) // 2
            (a, b), (c, d) = along(low, middle), along(middle, high)
            return a + c, b + d

        area, felled = along(0, len(fence))
        return (abs(area) - felled + 2) // 2
