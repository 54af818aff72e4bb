from math import prod


class Solution:
    def oddChance(self, chances):
        return 0.5 - prod(1 - 2 * chance for chance in chances) / 2
