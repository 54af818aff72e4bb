from math import gcd


class Solution:
    def treesInside(self, fence):
        twice = felled = 0
        x, y = fence[-1]
        for u, v in fence:
            twice += x * v - y * u
            felled += gcd(u - x, v - y)
            x, y = u, v
        return (abs(twice) - felled + 2) // 2
