from bisect import bisect_left, bisect_right
from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        pairs = sorted((total % coin, place) for place, total in enumerate(accumulate(tolls, initial=0)))
        answer = 0
        for rest, place in pairs:
            if place >= least:
                answer += bisect_right(pairs, (rest, place - least)) - bisect_left(pairs, (rest, 0))
        return answer
