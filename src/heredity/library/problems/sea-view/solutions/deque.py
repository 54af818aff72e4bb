from collections import deque


class Solution:
    def withView(self, houses, clear):
        seen = deque()
        highest = None
        for place in reversed(range(len(houses))):
            house = houses[place]
            if highest is None or house - highest >= clear:
                seen.appendleft(place)
            if highest is None or house > highest:
                highest = house
        return list(seen)
