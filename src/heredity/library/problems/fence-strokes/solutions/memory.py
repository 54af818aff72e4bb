from functools import cache


class Solution:
    def cheapest(self, colours, prices):
        @cache
        def cost(start, stop):
            if start == stop:
                return 0
            best = prices[colours[start]] + cost(start + 1, stop)
            for place in range(start + 1, stop):
                if colours[place] == colours[start]:
                    best = min(best, cost(start + 1, place) + cost(place, stop))
            return best

        for start in range(len(colours) - 1, -1, -1):
            cost(start, len(colours))
        return cost(0, len(colours))
