class Solution:
    def cheapest(self, colours, prices):
        row = [c for i, c in enumerate(colours) if not i or c != colours[i - 1]]
        count = len(row)
        cost = [[0] * (count + 1) for _ in range(count + 2)]
        for start in range(count - 1, -1, -1):
            here, below, colour = cost[start], cost[start + 1], row[start]
            same = [place for place in range(start + 1, count) if row[place] == colour]
            for stop in range(start + 1, count + 1):
                best = prices[colour] + below[stop]
                # The stroke of the first board goes on to another one of its colour.
                for place in same:
                    if place >= stop:
                        break
                    one = below[place] + cost[place][stop]
                    if one < best:
                        best = one
                here[stop] = best
        return cost[0][count]
