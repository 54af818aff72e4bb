class Solution:
    def cheapest(self, colours, prices):
        count = len(colours)
        following, last = [count] * count, {}
        for place in range(count - 1, -1, -1):
            following[place] = last.get(colours[place], count)
            last[colours[place]] = place
        cost = [[0] * (count + 1) for _ in range(count + 1)]
        for stop in range(1, count + 1):
            for start in range(stop - 1, -1, -1):
                best = prices[colours[start]] + cost[start + 1][stop]
                place = following[start]
                while place < stop:
                    best = min(best, cost[start + 1][place] + cost[place][stop])
                    place = following[place]
                cost[start][stop] = best
        return cost[0][count]
