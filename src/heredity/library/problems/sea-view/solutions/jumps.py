class Solution:
    def withView(self, houses, clear):
        # The next house that is the highest of the rest, for each place.
        count, best = len(houses), [0] * len(houses)
        best[-1] = count - 1
        for place in range(count - 2, -1, -1):
            best[place] = place if houses[place] >= houses[best[place + 1]] else best[place + 1]
        return [p for p in range(count) if p == count - 1 or houses[p] - houses[best[p + 1]] >= clear]
