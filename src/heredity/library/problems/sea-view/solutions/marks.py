class Solution:
    def withView(self, houses, clear):
        count = len(houses)
        view = [False] * count
        highest = float("-inf")
        for back in range(1, count + 1):
            view[-back] = houses[-back] - clear >= highest
            highest = max(highest, houses[-back])
        return [place for place in range(count) if view[place]]
