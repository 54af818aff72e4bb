from decimal import Decimal, getcontext


class Solution:
    def firstWins(self, sacks):
        getcontext().prec = 60
        ratio = (Decimal(5).sqrt() + 1) / 2
        return [Decimal(max(pair)) > ratio * min(pair) for pair in sacks]
