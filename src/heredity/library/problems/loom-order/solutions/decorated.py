class Solution:
    def leastWaiting(self, cloths, rest):
        decorated = sorted(
            ((hours + rest) / impatience, place, hours, impatience) for place, (hours, impatience) in enumerate(cloths)
        )
        clock, cost = -rest, 0
        for _, _, hours, impatience in decorated:
            clock += rest + hours
            cost += clock * impatience
        return cost
