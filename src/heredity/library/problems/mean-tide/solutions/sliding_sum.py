class Solution:
    def highestMean(self, levels, hours):
        total = best = sum(levels[:hours])
        for i in range(hours, len(levels)):
            total += levels[i] - levels[i - hours]
            best = max(best, total)
        return best / hours
