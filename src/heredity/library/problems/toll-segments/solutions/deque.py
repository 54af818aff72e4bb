from collections import defaultdict, deque


class Solution:
    def payable(self, tolls, coin, least):
        waiting, seen = deque([0]), defaultdict(int)
        rest = answer = 0
        for toll in tolls:
            rest = (rest + toll) % coin
            if len(waiting) == least:
                seen[waiting.popleft()] += 1
            waiting.append(rest)
            answer += seen[rest]
        return answer
