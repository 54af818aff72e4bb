class Solution:
    def withView(self, houses, clear):
        seen, highest = [], -clear
        for place in range(len(houses) - 1, -1, -1):
            if houses[place] >= highest + clear:
                seen.append(place)
            if houses[place] > highest:
                highest = houses[place]
        return seen[::-1]
