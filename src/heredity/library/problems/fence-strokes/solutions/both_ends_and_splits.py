class Solution:
    def cheapest(self, colours, prices):
        row = [c for i, c in enumerate(colours) if not i or c != colours[i - 1]]
        n = len(row)
        cost = [[0] * n for _ in range(n)]
        columns = [[0] * n for _ in range(n)]
        for start in range(n - 1, -1, -1):
            cost[start][start] = columns[start][start] = prices[row[start]]
            for stop in range(start + 1, n):
                if row[start] == row[stop]:
                    # The last board is under the first one's stroke.
                    best = cost[start][stop - 1]
                else:
                    best = min(map(int.__add__, cost[start][start:stop], columns[stop][start + 1 : stop + 1]))
                cost[start][stop] = columns[stop][start] = best
        return cost[0][-1]
