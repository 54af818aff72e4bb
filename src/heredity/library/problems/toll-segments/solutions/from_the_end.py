class Solution:
    def payable(self, tolls, coin, least):
        seen, answer = {}, 0
        rests = [0]
        for toll in reversed(tolls):
            rests.append((rests[-1] + toll) % coin)
        for stop in range(least, len(rests)):
            key = rests[stop - least]
            seen[key] = seen.get(key, 0) + 1
            answer += seen.get(rests[stop], 0)
        return answer
