class Solution:
    def oddChance(self, chances):
        none, one = 1.0, 0.0
        for chance in chances:
            none, one = none * (1 - chance), one * (1 - chance) + none * chance
        return one
