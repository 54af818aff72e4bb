from itertools import accumulate


class Solution:
    def oddChance(self, chances):
        return list(accumulate(chances, lambda odd, chance: odd * (1 - chance) + chance * (1 - odd)))[-1]
