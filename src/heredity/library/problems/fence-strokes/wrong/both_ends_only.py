class Solution:
    def cheapest(self, colours, prices):
        row = [c for i, c in enumerate(colours) if not i or c != colours[i - 1]]
        count = len(row)
        cost = [[0] * (count + 1) for _ in range(count + 2)]
        for start in range(count - 1, -1, -1):
            for stop in range(start + 1, count + 1):
                if stop - start > 1 and row[start] == row[stop - 1]:
                    cost[start][stop] = prices[row[start]] + cost[start + 1][stop - 1]
                else:
                    cost[start][stop] = min(
                        prices[row[start]] + cost[start + 1][stop], prices[row[stop - 1]] + cost[start][stop - 1]
                    )
        return cost[0][count]
