from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate


class Solution:
    def pairs(self, jars, low, high):
        count = Counter(jars)
        kinds = sorted(count)
        sums = [0, *accumulate(count[kind] for kind in kinds)]
        total = 0
        for kind in kinds:
            partners = sums[bisect_right(kinds, high - kind)] - sums[bisect_left(kinds, low - kind)]
            total += count[kind] * (partners - (low <= 2 * kind <= high))
        return total // 2
