from fractions import Fraction


class Solution:
    def treesInside(self, fence):
        area = felled = 0
        for (x, y), (u, v) in zip(fence, fence[1:] + fence[:1]):
            area += (x + u) * (v - y)
            if x == u:
                felled += abs(v - y)
            else:
                felled += abs(u - x) // Fraction(v - y, u - x).denominator
        return (abs(area) - felled + 2) // 2
