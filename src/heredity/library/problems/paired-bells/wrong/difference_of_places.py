class Solution:
    def kthGap(self, high, low, rank):
        high.sort()
        low.sort()
        place = min(rank - 1, len(high) * len(low) - 1)
        return abs(high[place // len(low)] - low[place % len(low)])
