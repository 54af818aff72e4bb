from decimal import Decimal


class Solution:
    def oddChance(self, chances):
        even_less_odd = Decimal(1)
        for chance in chances:
            even_less_odd *= 1 - 2 * Decimal(chance)
        return float((1 - even_less_odd) / 2)
