from functools import cmp_to_key


class Solution:
    def leastWaiting(self, cloths, rest):
        order = sorted(cloths, key=cmp_to_key(lambda a, b: (a[0] + rest) * b[1] - (b[0] + rest) * a[1]))
        clock = cost = 0
        for hours, impatience in order:
            cost += (clock + hours) * impatience
            clock += hours + rest
        return cost
