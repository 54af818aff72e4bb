from math import isqrt


class Solution:
    def purse(self, first, last):
        def purse(top):
            root = isqrt(top)
            odd = sum(top // one * one for one in range(1, root + 1, 2))
            even = sum(top // one * one for one in range(2, root + 1, 2))
            tops = [top // one for one in range(1, root + 1)]
            signed = sum((one + 1) // 2 if one & 1 else -(one // 2) for one in tops)
            return odd - even + signed - root * ((root + 1) // 2 if root & 1 else -(root // 2))

        return purse(last) - purse(first - 1)
