class Solution:
    def treesInside(self, fence):
        area = felled = 0
        for i, (x, y) in enumerate(fence):
            u, v = fence[i - 1]
            area += x * v - y * u
            a, b = abs(u - x), abs(v - y)
            while b:
                a, b = b, a % b
            felled += a
        return (abs(area) - felled) // 2 + 1
