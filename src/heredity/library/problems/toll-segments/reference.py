from collections import defaultdict
from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        rests = [0, *(total % coin for total in accumulate(tolls))]
        seen, answer = defaultdict(int), 0
        for start, rest in zip(rests, rests[least:]):
            seen[start] += 1
            answer += seen[rest]
        return answer
