from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        if len(high) > len(low):
            high, low = low, high
        low.sort()
        least, most = 0, 10**12
        while least < most:
            middle = (least + most) // 2
            if sum([bisect_right(low, bell + middle) - bisect_left(low, bell - middle) for bell in high]) >= rank:
                most = middle
            else:
                least = middle + 1
        return least
