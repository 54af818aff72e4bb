from math import isqrt


class Solution:
    def purse(self, first, last):
        def signed(top):
            return (top + 1) // 2 if top % 2 else -(top // 2)

        def purse(top):
            root = isqrt(top)
            total = -root * signed(root)
            for one in range(1, root + 1):
                total += signed(top // one)
                total += top // one * (one if one % 2 else -one)
            return total

        return purse(last) - purse(first - 1)
