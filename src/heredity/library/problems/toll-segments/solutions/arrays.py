from itertools import accumulate
from operator import itemgetter


class Solution:
    def payable(self, tolls, coin, least):
        rests = [total % coin for total in accumulate(tolls, initial=0)]
        if len(rests) <= least:
            return 0
        seen = dict.fromkeys(rests, 0)
        answer = 0
        for start, stop in zip(rests, itemgetter(slice(least, None))(rests)):
            seen[start] += 1
            answer += seen[stop]
        return answer
