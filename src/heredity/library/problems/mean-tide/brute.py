class Solution:
    def highestMean(self, levels, hours):
        return max(sum(levels[i : i + hours]) / hours for i in range(len(levels) - hours + 1))
