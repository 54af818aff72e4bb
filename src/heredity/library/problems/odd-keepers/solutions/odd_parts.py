from math import isqrt


class Solution:
    def stillLit(self, lamps):
        lit = 0
        while lamps:
            lit += (isqrt(lamps) + 1) // 2
            lamps //= 2
        return lit
