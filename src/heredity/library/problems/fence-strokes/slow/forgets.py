class Solution:
    def cheapest(self, colours, prices):
        row = [c for i, c in enumerate(colours) if not i or c != colours[i - 1]]

        def cost(start, stop):
            if start >= stop:
                return 0
            best = prices[row[start]] + cost(start + 1, stop)
            for place in range(start + 1, stop):
                if row[place] == row[start]:
                    best = min(best, cost(start + 1, place) + cost(place, stop))
            return best

        return cost(0, len(row))
