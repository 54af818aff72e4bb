class Solution:
    def leastGlue(self, widths):
        if len(widths) == 1:
            return 0
        return min(
            max(widths[i], widths[i + 1]) + self.leastGlue(widths[:i] + [widths[i] + widths[i + 1]] + widths[i + 2 :])
            for i in range(len(widths) - 1)
        )
