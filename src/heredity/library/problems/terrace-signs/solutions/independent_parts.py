from itertools import accumulate
from math import comb


class Solution:
    def gardens(self, signs):
        mod = 10**9 + 7
        total, size = 1, 0
        # A `?` parts the row: which heights go to which part is free.
        for part in signs.split("?"):
            ways = [1]
            for sign in part:
                ways = [one % mod for one in accumulate(ways if sign == "<" else reversed(ways), initial=0)]
                if sign == ">":
                    ways.reverse()
            size += len(part) + 1
            total = total * sum(ways) * comb(size, len(part) + 1) % mod
        return total
