class Solution:
    def withView(self, houses, clear):
        size = 256
        highs = [max(houses[start : start + size]) for start in range(0, len(houses), size)]
        for block in range(len(highs) - 2, -1, -1):
            highs[block] = max(highs[block], highs[block + 1])
        highs.append(-(10**10))
        seen = []
        for block in range(len(highs) - 1):
            start, highest, found = block * size, highs[block + 1], []
            for place in range(min(start + size, len(houses)) - 1, start - 1, -1):
                if houses[place] >= highest + clear:
                    found.append(place)
                highest = max(highest, houses[place])
            seen += reversed(found)
        return seen
