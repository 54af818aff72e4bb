from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        order = sorted(low)

        def search(least, most):
            if least == most:
                return least
            middle = (least + most) >> 1
            count = sum(bisect_right(order, bell + middle) for bell in high) - sum(
                bisect_left(order, bell - middle) for bell in high
            )
            return search(least, middle) if count >= rank else search(middle + 1, most)

        return search(0, 10**12)
