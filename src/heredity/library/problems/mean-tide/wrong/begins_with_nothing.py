class Solution:
    def highestMean(self, levels, hours):
        best, total = 0.0, 0.0
        for place, level in enumerate(levels):
            total += level - (levels[place - hours] if place >= hours else 0.0)
            if place >= hours - 1:
                best = max(best, total / hours)
        return best
