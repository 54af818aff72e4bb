class Solution:
    def oddChance(self, chances):
        even_less_odd = 1.0
        for chance in chances:
            even_less_odd *= 1 - 2 * chance
        return (1 - even_less_odd) / 2
