class Solution:
    def kthGap(self, high, low, rank):
        least, most = 0, 10**12
        while least < most:
            middle = (least + most) // 2
            if sum(abs(a - b) <= middle for a in high for b in low) >= rank:
                most = middle
            else:
                least = middle + 1
        return least
