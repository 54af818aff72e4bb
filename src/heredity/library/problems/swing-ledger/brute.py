class Solution:
    def ledger(self, levels):
        total = 0
        for start in range(len(levels)):
            for stop in range(start + 1, len(levels) + 1):
                span = levels[start:stop]
                total += (max(span) - min(span)) * len(span)
        return total
