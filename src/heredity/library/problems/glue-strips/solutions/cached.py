from functools import cache
from itertools import accumulate


class Solution:
    def leastGlue(self, widths):
        sums = [0, *accumulate(widths)]

        @cache
        def least(start, end):
            if end - start == 1:
                return 0
            return min(
                least(start, cut) + least(cut, end) + max(sums[cut] - sums[start], sums[end] - sums[cut])
                for cut in range(start + 1, end)
            )

        return least(0, len(widths))
