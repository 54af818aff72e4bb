from functools import reduce


class Solution:
    def oddChance(self, chances):
        return reduce(lambda odd, chance: odd + chance - 2 * odd * chance, chances, 0.0)
