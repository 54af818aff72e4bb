from itertools import accumulate


class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        size = len(signs) + 1
        # ends[below]: ways to go on when so many of the terraces left are lower than the last one laid.
        ends = [1]
        for left in range(1, size):
            sign = signs[size - 1 - left]
            sums = list(accumulate(ends, lambda a, b: (a + b) % mod, initial=0))
            if sign == "<":
                ends = [(sums[left] - sums[below]) % mod for below in range(left + 1)]
            elif sign == ">":
                ends = sums
            else:
                ends = [sums[left]] * (left + 1)
        return sum(ends) % mod
