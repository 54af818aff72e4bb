class Solution:
    def treesInside(self, fence):
        twice = sum(x * v - y * u for (x, y), (u, v) in zip(fence, fence[1:] + fence[:1]))
        return (abs(twice) - len(fence) + 2) // 2
