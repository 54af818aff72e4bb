from bisect import bisect_left
from itertools import combinations
from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        parts = [
            (lcm(*bells), (-1) ** (size + 1) * size)
            for size in range(1, len(periods) + 1)
            for bells in combinations(periods, size)
        ]

        def count(minute):
            return sum(minute // common * weight for common, weight in parts)

        top = 10**17
        found = bisect_left(range(top), k, key=count)
        return found if found < top else -1
