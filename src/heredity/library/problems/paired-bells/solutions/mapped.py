from bisect import bisect_left, bisect_right
from functools import partial


class Solution:
    def kthGap(self, high, low, rank):
        low.sort()
        above, below = partial(bisect_right, low), partial(bisect_left, low)
        least, most = 0, 1 << 40
        while least < most:
            middle = (least + most) // 2
            count = sum(map(above, [bell + middle for bell in high])) - sum(
                map(below, [bell - middle for bell in high])
            )
            least, most = (least, middle) if count >= rank else (middle + 1, most)
        return least
