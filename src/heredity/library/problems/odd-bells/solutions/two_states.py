class Solution:
    def oddChance(self, chances):
        even, odd = 1.0, 0.0
        for chance in chances:
            even, odd = even * (1 - chance) + odd * chance, odd * (1 - chance) + even * chance
        return odd
