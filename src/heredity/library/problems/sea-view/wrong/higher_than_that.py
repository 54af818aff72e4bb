class Solution:
    def withView(self, houses, clear):
        seen, highest = [], -clear - 1
        for place in range(len(houses) - 1, -1, -1):
            if houses[place] > highest + clear:
                seen.append(place)
            highest = max(highest, houses[place])
        return seen[::-1]
