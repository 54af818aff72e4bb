class Solution:
    def oddChance(self, chances):
        flips, factor = 0, 1.0
        for chance in chances:
            if chance > 0.5:
                flips, chance = 1 - flips, 1 - chance
            factor *= 1 - 2 * chance
        odd = (1 - factor) / 2
        return 1 - odd if flips else odd
