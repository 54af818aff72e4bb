from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        sums = [0, *accumulate(tolls)]
        seen, answer = {}, 0
        for start, total in zip(sums, sums[least:]):
            seen[start] = seen.get(start, 0) + 1
            answer += seen.get(total, 0)
        return answer
