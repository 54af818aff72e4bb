from math import lcm


class Solution:
    def loneMinute(self, periods, k):
        def count(minute):
            total = 0
            for subset in range(1, 1 << len(periods)):
                bells = [period for bell, period in enumerate(periods) if subset >> bell & 1]
                total += (-1) ** (len(bells) + 1) * (minute // lcm(*bells))
            return total

        low, high = 0, 10**17
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if count(middle) < k else (low, middle)
        return high if high < 10**17 else -1
