from collections import defaultdict, deque


class Solution:
    def twoGates(self, tolls, purse):
        places = defaultdict(deque)
        for place, toll in enumerate(tolls):
            places[toll].append(place)
        for place, toll in enumerate(tolls):
            places[toll].popleft()
            if purse - toll in places and places[purse - toll]:
                return [place, places[purse - toll][0]]
        return [-1, -1]
