from math import isqrt


class Solution:
    def stillLit(self, lamps):
        lit = 0
        for lamp in range(1, lamps + 1):
            while lamp % 2 == 0:
                lamp //= 2
            lit += isqrt(lamp) ** 2 == lamp
        return lit
