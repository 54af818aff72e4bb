from math import isqrt


class Solution:
    def purse(self, first, last):
        def divisors(top):
            root = isqrt(top)
            total = -root * root * (root + 1) // 2
            for one in range(1, root + 1):
                part = top // one
                total += one * part + part * (part + 1) // 2
            return total

        def purse(top):
            # A day is an odd number times 2 to the a; its odd part's divisors count 1 - 2 - 4 - … times.
            sums = []
            while top:
                sums.append(divisors(top))
                top //= 2
            sums += [0, 0]
            return sum((3 - 2 ** (a + 1)) * (sums[a] - 3 * sums[a + 1] + 2 * sums[a + 2]) for a in range(len(sums) - 2))

        return purse(last) - purse(first - 1)
