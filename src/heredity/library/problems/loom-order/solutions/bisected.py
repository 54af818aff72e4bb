from bisect import insort


class Solution:
    def leastWaiting(self, cloths, rest):
        order = []
        for hours, impatience in cloths:
            insort(order, ((hours + rest) / impatience, hours, impatience))
        clock = cost = 0
        for _, hours, impatience in order:
            cost += (clock + hours) * impatience
            clock += hours + rest
        return cost
