from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        low.sort()

        def count(gap):
            return sum(bisect_right(low, bell + gap) - bisect_left(low, bell - gap) for bell in high)

        if count(0) >= rank:
            return 0
        step = 1
        while count(step) < rank:
            step *= 2
        least, most = step // 2 + 1, step
        while least < most:
            middle = (least + most) // 2
            if count(middle) >= rank:
                most = middle
            else:
                least = middle + 1
        return least
