from math import isqrt


class Solution:
    def purse(self, first, last):
        def purse(top):
            total = 0
            for small in range(1, isqrt(top) + 1):
                # Days small * large with large > small: both stalls count; and the square once.
                large = top // small
                sign = small if small % 2 else -small
                total += sign + sign * (large - small)
                total += (large + 1) // 2 if large % 2 else -(large // 2)
                total -= (small + 1) // 2 if small % 2 else -(small // 2)
            return total

        return purse(last) - purse(first - 1)
