from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        low.sort()
        gap = 0
        for bit in range(39, -1, -1):
            tried = gap + (1 << bit) - 1
            if sum(bisect_right(low, bell + tried) - bisect_left(low, bell - tried) for bell in high) < rank:
                gap += 1 << bit
        return gap
