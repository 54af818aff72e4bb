from math import gcd


class Solution:
    def nextFeast(self, wheels, start):
        def joined(low, high):
            if high - low == 1:
                return wheels[low]
            middle = (low + high) // 2
            one, other = joined(low, middle), joined(middle, high)
            if one is None or other is None:
                return None
            (m, a), (n, b) = one, other
            g = gcd(m, n)
            if (b - a) % g:
                return None
            turns = (b - a) // g * pow(m // g, -1, n // g) % (n // g)
            return m // g * n, a + turns * m

        found = joined(0, len(wheels))
        return start + (found[1] - start) % found[0] if found else -1
