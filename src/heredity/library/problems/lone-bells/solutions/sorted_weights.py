from itertools import combinations
from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        parts = []
        for size in range(1, len(periods) + 1):
            for bells in combinations(sorted(periods), size):
                common = lcm(*bells)
                if common < 10**16:
                    parts.append((common, size if size % 2 else -size))
        parts.sort()

        def enough(minute):
            total = 0
            for common, weight in parts:
                if common > minute:
                    break
                total += minute // common * weight
            return total >= k

        if not enough(10**16):
            return -1
        low, high = 1, 10**16
        while low < high:
            middle = low + (high - low) // 2
            if enough(middle):
                high = middle
            else:
                low = middle + 1
        return low
