from functools import cache
from itertools import accumulate


class Solution:
    def bestLead(self, coins):
        sums = [0, *accumulate(coins)]

        @cache
        def most(start, end, mine, yours):
            """The most that who is to move can get of what is left."""
            if end - start < 2:
                return sums[end] - sums[start]
            rest = min(most(start + 1, end, yours, mine), most(start, end - 1, yours, mine))
            if mine:
                rest = min(rest, most(start + 2, end, yours, 0), most(start, end - 2, yours, 0))
            return sums[end] - sums[start] - rest

        return 2 * most(0, len(coins), 1, 1) - sums[-1]
