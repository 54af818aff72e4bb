from math import isqrt


class Solution:
    def purse(self, first, last):
        def purse(top):
            total = 0
            for one in range(1, isqrt(top) + 1):
                for other in (one, top // one):
                    total += (top // other) * (other if other % 2 else -other)
            return total

        return purse(last) - purse(first - 1)
