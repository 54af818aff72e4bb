class Solution:
    def leastWaiting(self, cloths, rest):
        clock = cost = 0
        for hours, impatience in sorted(cloths):
            cost += (clock + hours) * impatience
            clock += hours + rest
        return cost
