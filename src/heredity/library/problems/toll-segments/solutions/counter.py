from collections import Counter


class Solution:
    def payable(self, tolls, coin, least):
        seen, answer = Counter(), 0
        before, now = 0, sum(tolls[: least - 1])
        for stop in range(least - 1, len(tolls)):
            now += tolls[stop]
            seen[before % coin] += 1
            answer += seen[now % coin]
            before += tolls[stop + 1 - least]
        return answer
