from math import comb


class Solution:
    def waysToSow(self, pots, seeds):
        if 2 * seeds > pots:
            return 0
        return comb(pots - seeds, seeds) * pots // (pots - seeds) % 1_000_000_007
