from functools import cache


class Solution:
    def bestLead(self, coins):
        @cache
        def value(start, end, first, second, turn):
            if start >= end:
                return 0
            sign, choose = (1, max) if turn else (-1, min)
            options = [
                sign * coins[start] + value(start + 1, end, first, second, not turn),
                sign * coins[end - 1] + value(start, end - 1, first, second, not turn),
            ]
            if (first if turn else second) and end - start > 1:
                left = (first and not turn, second and turn)
                options.append(sign * (coins[start] + coins[start + 1]) + value(start + 2, end, *left, not turn))
                options.append(sign * (coins[end - 1] + coins[end - 2]) + value(start, end - 2, *left, not turn))
            return choose(options)

        return value(0, len(coins), True, True, True)
