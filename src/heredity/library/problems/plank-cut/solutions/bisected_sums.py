from bisect import bisect_left
from itertools import accumulate


class Solution:
    def saw(self, weights):
        *sums, whole = accumulate(weights)
        ordered = sorted((2 * left, cut) for cut, left in enumerate(sums, 1))
        place = bisect_left(ordered, (whole, 0))
        near = ordered[place : place + 1]
        if place:
            below = ordered[place - 1][0]
            near.append(ordered[bisect_left(ordered, (below, 0))])
        return min((abs(double - whole), cut) for double, cut in near)[1]
