class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007
        if 2 * seeds > pots:
            return 0
        above = below = 1
        for place in range(1, seeds + 1):
            above = above * (pots - seeds - place + 1) % modulus
            below = below * place % modulus
        return above * pots * pow(below * (pots - seeds), -1, modulus) % modulus
