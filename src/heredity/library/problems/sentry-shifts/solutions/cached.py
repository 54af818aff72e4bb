from functools import cache


class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)

        @cache
        def least(used, last):
            post = used.bit_count()
            if post == count:
                return 0
            return min(
                pay[i][post] + (quarrel[last][i] if used else 0) + least(used | 1 << i, i)
                for i in range(count)
                if not used >> i & 1
            )

        return least(0, 0)
