class Solution:
    def kthGap(self, high, low, rank):
        return sorted(abs(a - b) for a in high for b in low)[rank - 1]
