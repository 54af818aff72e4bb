from math import prod


class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007

        def product(low, high):
            result = 1
            for start in range(low, high, 100):
                result = result * prod(range(start, min(high, start + 100))) % modulus
            return result

        if 2 * seeds > pots:
            return 0
        above = product(pots - 2 * seeds + 1, pots - seeds + 1) * pots
        return above * pow(product(1, seeds + 1) * (pots - seeds), -1, modulus) % modulus
