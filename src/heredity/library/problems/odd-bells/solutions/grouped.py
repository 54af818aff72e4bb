from collections import Counter


class Solution:
    def oddChance(self, chances):
        factor = 1.0
        for chance, count in Counter(chances).items():
            factor *= (1 - 2 * chance) ** count
        return (1 - factor) / 2
