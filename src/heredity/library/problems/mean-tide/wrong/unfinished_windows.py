class Solution:
    def highestMean(self, levels, hours):
        best, total = float("-inf"), 0.0
        for place, level in enumerate(levels):
            total += level - (levels[place - hours] if place >= hours else 0.0)
            best = max(best, total / min(place + 1, hours))
        return best
