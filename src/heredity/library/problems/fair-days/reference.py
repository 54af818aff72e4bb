from math import isqrt


class Solution:
    def purse(self, first, last):
        def divisors(top):
            """The sum of all divisors of 1 … top."""
            root, total = isqrt(top), 0
            for one in range(1, root + 1):
                other = top // one
                total += other * (2 * one + other + 1)
            return total // 2 - root * (root + 1) // 2 * root

        def purse(top):
            return divisors(top) - 4 * divisors(top // 2)

        return purse(last) - purse(first - 1)
