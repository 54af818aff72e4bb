from math import gcd


class Solution:
    def fewestCuts(self, ribbons):
        ribbons.sort()
        piece = ribbons[0]
        for one, other in zip(ribbons, ribbons[1:]):
            piece = gcd(piece, other - one)
        return sum(ribbon // piece - 1 for ribbon in ribbons)
