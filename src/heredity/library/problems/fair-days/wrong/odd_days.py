from math import isqrt


class Solution:
    def purse(self, first, last):
        def divisors(top):
            root, total = isqrt(top), 0
            for one in range(1, root + 1):
                other = top // one
                total += other * (2 * one + other + 1)
            return total // 2 - root * (root + 1) // 2 * root

        return divisors(last) - 2 * divisors(last // 2) - divisors(first - 1) + 2 * divisors((first - 1) // 2)
