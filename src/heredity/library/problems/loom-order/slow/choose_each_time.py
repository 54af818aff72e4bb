class Solution:
    def leastWaiting(self, cloths, rest):
        left, clock, cost = list(cloths), 0, 0
        while left:
            best = min(left, key=lambda cloth: (cloth[0] + rest) / cloth[1])
            left.remove(best)
            cost += (clock + best[0]) * best[1]
            clock += best[0] + rest
        return cost
