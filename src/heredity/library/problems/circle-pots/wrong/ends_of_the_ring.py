from math import comb


class Solution:
    def waysToSow(self, pots, seeds):
        return comb(max(0, pots - seeds), seeds) % 1_000_000_007
