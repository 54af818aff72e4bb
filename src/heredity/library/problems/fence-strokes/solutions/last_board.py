class Solution:
    def cheapest(self, colours, prices):
        count = len(colours)
        # cost[stop][start] of the boards from start to stop, both included; the last board joins an earlier one.
        cost = []
        for stop in range(count):
            row = [0] * (stop + 2)
            price = prices[colours[stop]]
            earlier = [place for place in range(stop) if colours[place] == colours[stop]]
            for start in range(stop, -1, -1):
                best = price + (cost[stop - 1][start] if start < stop else 0)
                for place in reversed(earlier):
                    if place < start:
                        break
                    between = cost[stop - 1][place + 1] if place + 1 < stop else 0
                    best = min(best, cost[place][start] + between)
                row[start] = best
            cost.append(row)
        return cost[-1][0]
