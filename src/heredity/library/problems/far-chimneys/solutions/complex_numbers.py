class Solution:
    def longestWalk(self, chimneys):
        turned = [[complex(x, y) * (1 + 1j) for x, y, owner in chimneys if owner == one] for one in (0, 1)]
        best = 0
        for part in ("real", "imag"):
            values = [[getattr(number, part) for number in group] for group in turned]
            best = max(best, max(values[0]) - min(values[1]), max(values[1]) - min(values[0]))
        return int(best)
