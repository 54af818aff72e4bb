from collections import deque
from math import gcd


class Solution:
    def treesInside(self, fence):
        posts = deque(fence)
        area = felled = 0
        for _ in range(len(fence)):
            (x, y), (u, v) = posts[0], posts[1]
            area += x * v - u * y
            felled += gcd(x - u, y - v)
            posts.rotate(-1)
        return abs(area) // 2 + 1 - felled // 2 if area % 2 == 0 else (abs(area) - felled + 2) // 2
