class Solution:
    def highestMean(self, levels, hours):
        # Whole numbers do not drift.
        parts = [round(level * 10**9) for level in levels]
        total = sum(parts[:hours])
        best = total
        for i in range(len(parts) - hours):
            total += parts[i + hours] - parts[i]
            if total > best:
                best = total
        return best / hours / 10**9
