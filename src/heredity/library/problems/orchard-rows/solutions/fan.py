from math import gcd


class Solution:
    def treesInside(self, fence):
        a, b = fence[0]
        area = 0
        for (x, y), (u, v) in zip(fence[1:], fence[2:]):
            area += (x - a) * (v - b) - (y - b) * (u - a)
        felled = sum(gcd(fence[i][0] - fence[i - 1][0], fence[i][1] - fence[i - 1][1]) for i in range(len(fence)))
        return (abs(area) - felled + 2) >> 1
