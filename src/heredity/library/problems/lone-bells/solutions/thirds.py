from functools import reduce
from math import gcd


class Solution:
    def loneMinute(self, periods, k):
        def common(bells):
            return reduce(lambda a, b: a * b // gcd(a, b), bells, 1)

        subsets = [[]]
        for period in periods:
            subsets += [[*one, period] for one in subsets]
        parts = [(common(one), len(one) * (1 if len(one) % 2 else -1)) for one in subsets if one]

        def count(minute):
            return sum(weight * (minute // one) for one, weight in parts)

        low, high = 0, 3**36
        if count(high) < k:
            return -1
        while high - low > 2:
            third = (high - low) // 3
            if count(low + third) >= k:
                high = low + third
            elif count(high - third) >= k:
                low, high = low + third, high - third
            else:
                low = high - third
        return next(minute for minute in range(low + 1, high + 1) if count(minute) >= k)
