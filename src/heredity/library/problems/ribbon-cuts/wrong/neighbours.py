from math import gcd


class Solution:
    def fewestCuts(self, ribbons):
        piece = min((gcd(a, b) for a, b in zip(ribbons, ribbons[1:])), default=ribbons[0])
        return sum(ribbon // piece - 1 for ribbon in ribbons)
