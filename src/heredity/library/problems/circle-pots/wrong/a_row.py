from math import comb


class Solution:
    def waysToSow(self, pots, seeds):
        return comb(pots - seeds + 1, seeds) % 1_000_000_007 if pots - seeds + 1 >= seeds else 0
