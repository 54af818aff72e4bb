from math import comb


class Solution:
    def waysToSow(self, pots, seeds):
        if seeds == 0:
            return 1
        sown = comb(pots - 3 - (seeds - 1) + 1, seeds - 1) if pots - seeds - 1 >= 0 else 0
        bare = comb(pots - 1 - seeds + 1, seeds) if pots >= seeds else 0
        return (sown + bare) % 1_000_000_007
