from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        weights = [
            (lcm(*(p for b, p in enumerate(periods) if s >> b & 1)), s.bit_count()) for s in range(1, 1 << len(periods))
        ]
        period = lcm(*periods)

        def count(minute):
            return sum(minute // common * (size if size & 1 else -size) for common, size in weights)

        whole = count(period)
        if not whole:
            return -1
        rounds, rest = divmod(k - 1, whole)
        low, high = 0, period
        while high - low > 1:
            middle = (low + high) // 2
            if count(middle) <= rest:
                low = middle
            else:
                high = middle
        return rounds * period + high
