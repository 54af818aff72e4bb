from functools import cache


class Solution:
    def waysUp(self, rungs):
        modulus = 1_000_000_007

        @cache
        def ways(left):
            if left < 8:
                table = [1, 1, 1, 2]
                while len(table) <= left:
                    table.append(table[-1] + table[-4])
                return table[left] if left >= 0 else 0
            half = left // 2
            rest = left - half
            # A hop of three may cross the middle, from one rung or two below it; single hops stand beside it.
            total = ways(half) * ways(rest)
            total -= tired(half) * tired_first(rest)
            for below in (1, 2):
                total += fresh(half - below) * fresh_first(rest - 3 + below)
            return total % modulus

        def tired(left):
            return fresh(left - 3)

        def fresh(left):
            return 1 if left == 0 else ways(left - 1) if left > 0 else 0

        tired_first, fresh_first = tired, fresh
        return ways(rungs)
