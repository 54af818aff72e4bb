from collections import Counter
from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        rests = [total % coin for total in accumulate(tolls, initial=0)]
        answer = sum(times * (times - 1) // 2 for times in Counter(rests).values())
        near = Counter()
        for place, rest in enumerate(rests):
            answer -= near[rest]
            near[rest] += 1
            if place >= least - 1:
                near[rests[place - least + 1]] -= 1
        return answer
