class Solution:
    def cheapest(self, colours, prices):
        row = [c for i, c in enumerate(colours) if not i or c != colours[i - 1]]
        count = len(row)
        # The fewest strokes first, and the cheapest of those.
        cost = [[(0, 0)] * (count + 1) for _ in range(count + 2)]
        for start in range(count - 1, -1, -1):
            for stop in range(start + 1, count + 1):
                one = cost[start + 1][stop]
                best = one[0] + 1, one[1] + prices[row[start]]
                for place in range(start + 1, stop):
                    if row[place] == row[start]:
                        a, b = cost[start + 1][place], cost[place][stop]
                        best = min(best, (a[0] + b[0], a[1] + b[1]))
                cost[start][stop] = best
        return cost[0][count][0] * min(prices)
