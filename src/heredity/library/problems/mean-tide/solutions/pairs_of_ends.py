class Solution:
    def highestMean(self, levels, hours):
        total = sum(levels[:hours])
        best = total
        for leaves, comes in zip(levels, levels[hours:]):
            total += comes - leaves
            if total > best:
                best = total
        return best / hours
