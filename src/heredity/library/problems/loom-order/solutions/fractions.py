from fractions import Fraction


class Solution:
    def leastWaiting(self, cloths, rest):
        ratios = {}
        for hours, impatience in cloths:
            ratios.setdefault((hours, impatience), None)
        keys = {cloth: Fraction(cloth[0] + rest, cloth[1]) for cloth in ratios}
        numbers = {cloth: (key.numerator << 40) // key.denominator for cloth, key in keys.items()}
        clock = cost = 0
        for hours, impatience in sorted(map(tuple, cloths), key=numbers.__getitem__):
            cost += (clock + hours) * impatience
            clock += hours + rest
        return cost
