from math import gcd


class Solution:
    def fewestCuts(self, ribbons):
        piece = gcd(*ribbons)
        return sum(ribbon // piece - 1 for ribbon in ribbons)
