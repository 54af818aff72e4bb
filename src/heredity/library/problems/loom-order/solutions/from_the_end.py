class Solution:
    def leastWaiting(self, cloths, rest):
        cloths.sort(key=lambda cloth: cloth[1] / (cloth[0] + rest))
        waiting = cost = 0
        for hours, impatience in cloths:
            cost += hours * impatience + waiting * (hours + rest)
            waiting += impatience
        return cost
