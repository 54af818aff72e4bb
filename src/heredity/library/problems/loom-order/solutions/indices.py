class Solution:
    def leastWaiting(self, cloths, rest):
        keys = [(hours + rest) / impatience for hours, impatience in cloths]
        clock = cost = 0
        for place in sorted(range(len(cloths)), key=keys.__getitem__):
            hours, impatience = cloths[place]
            clock += hours
            cost += clock * impatience
            clock += rest
        return cost
