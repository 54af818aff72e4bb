from math import isqrt


class Solution:
    def stillLit(self, lamps):
        return isqrt(lamps) + max(0, lamps.bit_length() // 2)
