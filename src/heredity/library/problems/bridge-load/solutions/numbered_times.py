from bisect import bisect_left, bisect_right
from itertools import accumulate


class Solution:
    def heaviest(self, crossings):
        times = sorted({enter for enter, _, _ in crossings})
        change = [0] * (len(times) + 1)
        for enter, leave, weight in crossings:
            change[bisect_left(times, enter)] += weight
            change[bisect_right(times, leave)] -= weight
        loads = list(accumulate(change))
        most = max(loads)
        return [times[loads.index(most)], most]
