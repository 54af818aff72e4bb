from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        low.sort()
        least, most = 0, 10**12
        while least < most:
            middle = (least + most) // 2
            if sum(bisect_left(low, bell + middle) - bisect_right(low, bell - middle) for bell in high) >= rank:
                most = middle
            else:
                least = middle + 1
        return least
