from math import gcd


class Solution:
    def loneMinute(self, periods, k):
        count = len(periods)
        common = [1] * (1 << count)
        for subset in range(1, 1 << count):
            low = subset & -subset
            period, rest = periods[low.bit_length() - 1], common[subset ^ low]
            common[subset] = rest * period // gcd(rest, period)

        def lone(minute):
            together = [0] * (count + 1)
            for subset in range(1, 1 << count):
                together[bin(subset).count("1")] += minute // common[subset]
            return sum((-1) ** (size - 1) * size * together[size] for size in range(1, count + 1))

        low, high = 0, 10**17
        if lone(high) < k:
            return -1
        while high - low > 1:
            middle = (low + high) // 2
            if lone(middle) < k:
                low = middle
            else:
                high = middle
        return high
