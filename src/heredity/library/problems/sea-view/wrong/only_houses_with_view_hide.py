class Solution:
    def withView(self, houses, clear):
        seen, last = [], None
        for place in range(len(houses) - 1, -1, -1):
            if last is None or houses[place] - last >= clear:
                seen.append(place)
                last = houses[place]
        return seen[::-1]
