from math import gcd


class Solution:
    def fewestCuts(self, ribbons):
        return sum(ribbons) // gcd(*ribbons)
