from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        if len(high) > len(low):
            high, low = low, high
        low.sort()
        high.sort()
        firsts, lasts = [0] * len(high), [len(low)] * len(high)
        inner_first = inner_last = [bisect_left(low, bell) for bell in high]
        least, most = 0, 10**12
        while least < most:
            middle = (least + most) // 2
            first = [bisect_left(low, b - middle, f, i) for b, f, i in zip(high, firsts, inner_first)]
            last = [bisect_right(low, b + middle, i, last) for b, i, last in zip(high, inner_last, lasts)]
            if sum(last) - sum(first) >= rank:
                most, firsts, lasts = middle, first, last
            else:
                least, inner_first, inner_last = middle + 1, first, last
        return least
