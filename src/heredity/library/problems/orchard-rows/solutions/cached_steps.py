from functools import cache
from math import gcd


class Solution:
    def treesInside(self, fence):
        step = cache(gcd)
        area, felled = 0, 0
        for i in range(len(fence)):
            (x, y), (u, v) = fence[i], fence[(i + 1) % len(fence)]
            area += (x - u) * (y + v)
            felled += step(abs(x - u), abs(y - v))
        return (abs(area) - felled + 2) // 2
