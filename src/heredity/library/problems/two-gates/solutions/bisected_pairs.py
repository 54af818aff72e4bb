from bisect import bisect


class Solution:
    def twoGates(self, tolls, purse):
        order = sorted((toll, place) for place, toll in enumerate(tolls))
        for place, toll in enumerate(tolls):
            rank = bisect(order, (purse - toll, place))
            if rank < len(order) and order[rank][0] == purse - toll:
                return [place, order[rank][1]]
        return [-1, -1]
