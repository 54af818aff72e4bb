from functools import reduce
from math import gcd


class Solution:
    def fewestCuts(self, ribbons):
        piece = reduce(gcd, set(ribbons))
        return (sum(ribbons) - piece * len(ribbons)) // piece
