from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        seen, answer = {0: 1}, 0
        for total in accumulate(tolls):
            answer += seen.get(total % coin, 0)
            seen[total % coin] = seen.get(total % coin, 0) + 1
        return answer
