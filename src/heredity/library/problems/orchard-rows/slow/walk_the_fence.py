class Solution:
    def treesInside(self, fence):
        twice = felled = 0
        x, y = fence[-1]
        for u, v in fence:
            twice += x * v - y * u
            length = max(abs(u - x), abs(v - y))
            for step in range(1, length + 1):
                felled += (u - x) * step % length == 0 and (v - y) * step % length == 0
            x, y = u, v
        return (abs(twice) - felled + 2) // 2
