from functools import reduce
from math import gcd


class Solution:
    def nextFeast(self, wheels, start):
        def joined(one, other):
            if one is None:
                return None
            (m, a), (n, b) = one, other
            g = gcd(m, n)
            if (b - a) % g:
                return None
            k = n // g
            return m * k, (a + m * ((b - a) // g * pow(m // g, -1, k) % k)) % (m * k)

        found = reduce(joined, wheels, (1, 0))
        return -1 if found is None else start + (found[1] - start) % found[0]
