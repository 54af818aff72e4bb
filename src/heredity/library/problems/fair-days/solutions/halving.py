from functools import cache
from math import isqrt


class Solution:
    def purse(self, first, last):
        @cache
        def divisors(top):
            root = isqrt(top)
            parts = [top // one for one in range(1, root + 1)]
            return (
                sum(one * part for one, part in enumerate(parts, 1))
                + sum(part * (part + 1) // 2 for part in parts)
                - root * root * (root + 1) // 2
            )

        def odd(top):
            """The sum of the odd divisors of 1 … top."""
            return divisors(top) - 2 * divisors(top // 2)

        def purse(top):
            return 2 * odd(top) - divisors(top)

        return purse(last) - purse(first - 1)
