from math import gcd


class Solution:
    def loneMinute(self, periods, k):
        def count(minute, place=0, common=1, size=0):
            if common > minute:
                return 0
            if place == len(periods):
                return (size if size % 2 else -size) * (minute // common)
            period = periods[place]
            without = count(minute, place + 1, common, size)
            return without + count(minute, place + 1, common // gcd(common, period) * period, size + 1)

        step = 1
        while step < 10**17:
            step *= 2
        minute = 0
        top = 2 * step
        while step:
            if minute + step < top and count(minute + step) < k:
                minute += step
            step //= 2
        return minute + 1 if minute + 1 < top - 1 else -1
