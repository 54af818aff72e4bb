from math import isqrt


class Solution:
    def purse(self, first, last):
        def odd(top):
            root = isqrt(top)
            # Pairs of an odd stall and a multiplier; the smaller one is at most the root.
            total = sum(stall * (top // stall) for stall in range(1, root + 1, 2))
            for times in range(1, root + 1):
                total += ((top // times + 1) // 2) ** 2
            return total - root * ((root + 1) // 2) ** 2

        def purse(top):
            # Even stalls are twice a stall: everything less twice the odd ones, taken down by halves.
            everything, part, scale = 0, top, 1
            while part:
                everything += scale * odd(part)
                part, scale = part // 2, 2 * scale
            return 2 * odd(top) - everything

        return purse(last) - purse(first - 1)
