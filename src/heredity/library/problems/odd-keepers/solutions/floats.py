from math import sqrt


class Solution:
    def stillLit(self, lamps):
        return int(sqrt(lamps)) + int(sqrt(lamps // 2))
