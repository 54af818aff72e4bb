from math import isqrt


class Solution:
    def purse(self, first, last):
        def purse(top):
            root = isqrt(top)
            ends = list(range(1, root + 1))
            ends += [top // one for one in range(root, 0, -1) if top // one > root]
            sums = [(end + 1) // 2 if end % 2 else -end // 2 for end in ends]
            total = before = 0
            for end, now in zip(ends, sums):
                total += top // end * (now - before)
                before = now
            return total

        return purse(last) - purse(first - 1)
