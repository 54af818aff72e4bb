class Solution:
    def highestMean(self, levels, hours):
        total = lost = 0.0
        best = float("-inf")

        def add(total, lost, value):
            value -= lost
            new = total + value
            return new, (new - total) - value

        for i, level in enumerate(levels):
            total, lost = add(total, lost, level)
            if i >= hours:
                total, lost = add(total, lost, -levels[i - hours])
            if i >= hours - 1:
                best = max(best, total)
        return best / hours
