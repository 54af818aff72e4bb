from bisect import bisect_left, bisect_right


class Solution:
    def kthGap(self, high, low, rank):
        low.sort()

        def enough(gap):
            count = 0
            for bell in high:
                count += bisect_right(low, bell + gap) - bisect_left(low, bell - gap)
                if count >= rank:
                    return True
            return False

        least, most = -1, max(max(high) - low[0], low[-1] - min(high))
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (least, middle) if enough(middle) else (middle, most)
        return most
