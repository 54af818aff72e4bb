class Solution:
    def leastGlue(self, widths):
        if len(widths) == 1:
            return 0
        cut = min(range(1, len(widths)), key=lambda cut: max(sum(widths[:cut]), sum(widths[cut:])))
        one, other = widths[:cut], widths[cut:]
        return self.leastGlue(one) + self.leastGlue(other) + max(sum(one), sum(other))
