from fractions import Fraction


class Solution:
    def firstWins(self, sacks):
        out = []
        for a, b in sacks:
            ratio, wins = Fraction(max(a, b), min(a, b)), True
            while 1 < ratio < 2:
                ratio, wins = 1 / (ratio - 1), not wins
            out.append(wins == (ratio > 1))
        return out
