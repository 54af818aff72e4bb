from itertools import repeat
from math import isqrt
from operator import floordiv, mul


class Solution:
    def purse(self, first, last):
        def divisors(top):
            root = isqrt(top)
            parts = list(map(floordiv, repeat(top), range(1, root + 1)))
            squares = sum(map(mul, parts, parts))
            return (
                (squares + sum(parts)) // 2 + sum(map(mul, parts, range(1, root + 1))) - root * root * (root + 1) // 2
            )

        def purse(top):
            return divisors(top) - 4 * divisors(top // 2)

        return purse(last) - (purse(first - 1) if first > 1 else 0)
