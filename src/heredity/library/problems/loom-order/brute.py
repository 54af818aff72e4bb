from itertools import permutations


class Solution:
    def leastWaiting(self, cloths, rest):
        best = None
        for order in permutations(cloths):
            clock = cost = 0
            for hours, impatience in order:
                cost += (clock + hours) * impatience
                clock += hours + rest
            best = cost if best is None else min(best, cost)
        return best
