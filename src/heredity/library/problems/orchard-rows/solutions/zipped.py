from math import gcd


class Solution:
    def treesInside(self, fence):
        sides = list(zip(fence, fence[1:] + fence[:1]))
        area = abs(sum((u - x) * (v + y) for (x, y), (u, v) in sides))
        return (area - sum(gcd(u - x, v - y) for (x, y), (u, v) in sides)) // 2 + 1
