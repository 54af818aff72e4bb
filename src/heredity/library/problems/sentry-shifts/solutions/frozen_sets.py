from functools import cache


class Solution:
    def leastCost(self, pay, quarrel):
        @cache
        def least(left, after):
            if not left:
                return 0
            post = len(pay) - len(left)
            return min(pay[i][post] + (quarrel[after][i] if after >= 0 else 0) + least(left - {i}, i) for i in left)

        return least(frozenset(range(len(pay))), -1)
