class Solution:
    def treesInside(self, fence):
        def step(a, b):
            return step(b, a % b) if b else a

        area = sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(fence[-1:] + fence, fence))
        felled = sum(step(abs(a[0] - b[0]), abs(a[1] - b[1])) for a, b in zip(fence[-1:] + fence, fence))
        return (abs(area) - felled + 2) // 2
