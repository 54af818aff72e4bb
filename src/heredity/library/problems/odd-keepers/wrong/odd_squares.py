from math import isqrt


class Solution:
    def stillLit(self, lamps):
        return (isqrt(lamps) + 1) // 2
