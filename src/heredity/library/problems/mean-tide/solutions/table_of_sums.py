class Solution:
    def highestMean(self, levels, hours):
        sums = {-1: 0.0}
        for hour, level in enumerate(levels):
            sums[hour] = sums[hour - 1] + level
        means = [(sums[hour] - sums[hour - hours]) / hours for hour in range(hours - 1, len(levels))]
        means.sort()
        return means[-1]
