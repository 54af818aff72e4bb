class Solution:
    def leastGlue(self, widths):
        total = 0
        while len(widths) > 1:
            i = min(range(len(widths) - 1), key=lambda i: max(widths[i], widths[i + 1]))
            total += max(widths[i], widths[i + 1])
            widths[i : i + 2] = [widths[i] + widths[i + 1]]
        return total
