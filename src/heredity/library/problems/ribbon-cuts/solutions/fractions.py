from fractions import Fraction


class Solution:
    def fewestCuts(self, ribbons):
        first, scale = ribbons[0], 1
        for ribbon in set(ribbons):
            share = Fraction(ribbon * scale, first)
            scale *= share.denominator
        return sum(ribbon * scale // first - 1 for ribbon in ribbons)
