from bisect import bisect_left


class Solution:
    def twoGates(self, tolls, purse):
        order = sorted(range(len(tolls)), key=tolls.__getitem__)
        values = [tolls[place] for place in order]
        for place, toll in enumerate(tolls):
            rank = bisect_left(values, purse - toll)
            if 2 * toll == purse:
                # The same toll: the next place in the run of equal ones.
                rank = bisect_left(values, toll)
                if rank + 1 < len(order) and values[rank + 1] == toll:
                    return [order[rank], order[rank + 1]]
            elif rank < len(order) and values[rank] == purse - toll and order[rank] > place:
                return [place, order[rank]]
        return [-1, -1]
