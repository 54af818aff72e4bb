from math import isqrt


class Solution:
    def purse(self, first, last):
        total = 0
        for day in range(first, last + 1):
            for stall in range(1, isqrt(day) + 1):
                if day % stall == 0:
                    for one in {stall, day // stall}:
                        total += one if one % 2 else -one
        return total
