from itertools import accumulate, islice
from operator import sub


class Solution:
    def highestMean(self, levels, hours):
        sums = list(accumulate(levels, initial=0.0))
        return max(map(sub, islice(sums, hours, None), sums)) / hours
