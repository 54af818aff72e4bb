class Solution:
    def highestMean(self, levels, hours):
        mean = 0.0
        for i in range(hours):
            mean += (levels[i] - mean) / (i + 1)
        best = mean
        for i in range(hours, len(levels)):
            mean += (levels[i] - levels[i - hours]) / hours
            best = best if best > mean else mean
        return best
