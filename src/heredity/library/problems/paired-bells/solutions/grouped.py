from bisect import bisect_left, bisect_right
from collections import Counter


class Solution:
    def kthGap(self, high, low, rank):
        groups = list(Counter(high).items())
        low.sort()
        least, most = 0, 10**12
        while least < most:
            middle = (least + most) // 2
            count = 0
            for bell, times in groups:
                count += times * (bisect_right(low, bell + middle) - bisect_left(low, bell - middle))
            if count >= rank:
                most = middle
            else:
                least = middle + 1
        return most
