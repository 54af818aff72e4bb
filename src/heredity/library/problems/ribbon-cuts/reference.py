from math import gcd


class Solution:
    def fewestCuts(self, ribbons):
        piece = 0
        for ribbon in ribbons:
            piece = gcd(piece, ribbon)
        return sum(ribbons) // piece - len(ribbons)
