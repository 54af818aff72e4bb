from math import exp, log


class Solution:
    def oddChance(self, chances):
        total, sign = 0.0, 1
        for chance in chances:
            factor = 1 - 2 * chance
            if factor == 0:
                return 0.5
            if factor < 0:
                sign = -sign
            total += log(abs(factor))
        return (1 - sign * exp(total)) / 2
