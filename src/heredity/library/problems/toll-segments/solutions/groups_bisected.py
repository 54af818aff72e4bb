from bisect import bisect_right
from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        places = {}
        for place, total in enumerate(accumulate(tolls, initial=0)):
            places.setdefault(total % coin, []).append(place)
        return sum(bisect_right(at, place - least) for at in places.values() for place in at)
