class Solution:
    def leastWaiting(self, cloths, rest):
        cloths.sort(key=lambda cloth: (cloth[0] + rest) / cloth[1])
        clock = cost = 0
        for hours, impatience in cloths:
            clock += hours + rest
            cost += clock * impatience
        return cost
