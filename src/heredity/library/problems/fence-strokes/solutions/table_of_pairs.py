class Solution:
    def cheapest(self, colours, prices):
        cost, count = {}, len(colours)
        for start in range(count, -1, -1):
            cost[start, start] = 0
            same = []
            for stop in range(start + 1, count + 1):
                options = [cost[start + 1, place] + cost[place, stop] for place in same]
                options.append(prices[colours[start]] + cost[start + 1, stop])
                cost[start, stop] = min(options)
                if stop < count and colours[stop] == colours[start]:
                    same.append(stop)
        return cost[0, count]
