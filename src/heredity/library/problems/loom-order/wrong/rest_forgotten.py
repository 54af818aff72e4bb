class Solution:
    def leastWaiting(self, cloths, rest):
        cloths.sort(key=lambda cloth: cloth[0] / cloth[1])
        clock = cost = 0
        for hours, impatience in cloths:
            cost += (clock + hours) * impatience
            clock += hours + rest
        return cost
