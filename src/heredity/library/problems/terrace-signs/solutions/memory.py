import sys
from functools import cache


class Solution:
    def gardens(self, signs):
        sys.setrecursionlimit(10_000)
        mod = 10**9 + 7

        @cache
        def ways(last, rank):
            """Rows of the first last + 1 terraces whose last one has a rank of at most this one."""
            if rank < 0:
                return 0
            if last == 0:
                return 1
            sign = signs[last - 1]
            if sign == "<":
                one = ways(last - 1, rank - 1)
            elif sign == ">":
                one = ways(last - 1, last - 1) - ways(last - 1, rank - 1)
            else:
                one = ways(last - 1, last - 1)
            return (ways(last, rank - 1) + one) % mod

        for last in range(len(signs) + 1):
            for rank in range(last + 1):
                ways(last, rank)
        return ways(len(signs), len(signs))
