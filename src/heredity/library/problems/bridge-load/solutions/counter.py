from collections import Counter
from itertools import accumulate


class Solution:
    def heaviest(self, crossings):
        change = Counter()
        for enter, leave, weight in crossings:
            change[enter] += weight
            change[leave + 1] -= weight
        times = sorted(change)
        loads = accumulate(map(change.__getitem__, times))
        load, time = max(zip(loads, (-time for time in times)))
        return [-time, load]
