from math import gcd


class Solution:
    def treesInside(self, fence):
        sides = list(zip(fence, fence[1:] + fence[:1]))
        twice = sum(x * v - y * u for (x, y), (u, v) in sides)
        return (abs(twice) + sum(gcd(u - x, v - y) for (x, y), (u, v) in sides) + 2) // 2
