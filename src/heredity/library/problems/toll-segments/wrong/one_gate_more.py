from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        rests = [0, *(total % coin for total in accumulate(tolls))]
        seen, answer = {}, 0
        for start, rest in zip(rests, rests[least + 1 :]):
            seen[start] = seen.get(start, 0) + 1
            answer += seen.get(rest, 0)
        return answer
