from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        if all(any(j != i and a % b == 0 for j, b in enumerate(periods)) for i, a in enumerate(periods)):
            return -1
        # How often each subset's bells ring together, weighted so that minutes of two bells and more count nothing.
        weights = {}
        for subset in range(1, 1 << len(periods)):
            bells = [period for bell, period in enumerate(periods) if subset >> bell & 1]
            common = lcm(*bells)
            weights[common] = weights.get(common, 0) + (-1) ** (len(bells) + 1) * len(bells)
        parts = [(common, weight) for common, weight in weights.items() if weight]
        low, high = 0, 1
        while sum(high // common * weight for common, weight in parts) < k:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if sum(middle // common * weight for common, weight in parts) < k:
                low = middle
            else:
                high = middle
        return high
