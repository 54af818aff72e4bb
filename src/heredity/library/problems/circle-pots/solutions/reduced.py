from functools import reduce


class Solution:
    def waysToSow(self, pots, seeds):
        modulus = 1_000_000_007
        if 2 * seeds > pots:
            return 0

        def times(numbers):
            return reduce(lambda a, b: a * b % modulus, numbers, 1)

        above = times(range(pots - 2 * seeds + 1, pots - seeds))
        return (above * pots if seeds else 1) * pow(times(range(1, seeds + 1)), -1, modulus) % modulus
