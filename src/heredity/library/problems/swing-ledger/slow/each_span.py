class Solution:
    def ledger(self, levels):
        total = 0
        for start in range(len(levels)):
            low = high = levels[start]
            for stop in range(start, len(levels)):
                low, high = min(low, levels[stop]), max(high, levels[stop])
                total += (high - low) * (stop - start + 1)
        return total
