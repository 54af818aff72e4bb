from bisect import bisect_left


class Solution:
    def cheapest(self, colours, prices):
        count, places = len(colours), {}
        for place, colour in enumerate(colours):
            places.setdefault(colour, []).append(place)
        cost = [[0] * (count + 1) for _ in range(count + 1)]
        for length in range(1, count + 1):
            for start in range(count - length + 1):
                stop, mine = start + length, places[colours[start]]
                first = bisect_left(mine, start + 1)
                after = bisect_left(mine, stop)
                best = prices[colours[start]] + cost[start + 1][stop]
                if first < after:
                    best = min(best, min(cost[start + 1][place] + cost[place][stop] for place in mine[first:after]))
                cost[start][stop] = best
        return cost[0][count]
