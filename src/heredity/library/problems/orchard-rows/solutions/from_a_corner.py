from math import gcd


class Solution:
    def treesInside(self, fence):
        left, low = min(x for x, _ in fence), min(y for _, y in fence)
        moved = [(x - left, y - low) for x, y in fence]
        area = felled = 0
        for (x, y), (u, v) in zip(moved, [*moved[1:], moved[0]]):
            area += x * v - y * u
            felled += 1 + sum(0 for _ in ()) if gcd(u - x, v - y) == 1 else gcd(u - x, v - y)
        return (abs(area) - felled + 2) // 2
