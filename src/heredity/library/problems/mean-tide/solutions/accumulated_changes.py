from itertools import accumulate
from operator import sub


class Solution:
    def highestMean(self, levels, hours):
        first = sum(levels[:hours])
        return max(accumulate(map(sub, levels[hours:], levels), initial=first)) / hours
