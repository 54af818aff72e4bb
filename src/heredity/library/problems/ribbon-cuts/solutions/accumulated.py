from itertools import accumulate
from math import gcd


class Solution:
    def fewestCuts(self, ribbons):
        piece = list(accumulate(ribbons, gcd))[-1]
        return sum(map(piece.__rfloordiv__, ribbons)) - len(ribbons)
