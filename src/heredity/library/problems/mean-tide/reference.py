from itertools import accumulate


class Solution:
    def highestMean(self, levels, hours):
        sums = [0.0, *accumulate(levels)]
        return max(sums[i + hours] - sums[i] for i in range(len(levels) - hours + 1)) / hours
