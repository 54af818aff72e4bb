from itertools import accumulate


class Solution:
    def bestTune(self, first, second):
        best, ended = [0] * (len(second) + 1), [-9] * (len(second) + 1)
        for a in first:
            ended = [-9] + [max(x, y + 1) + 1 if a == b else -9 for x, y, b in zip(best, ended, second)]
            best = list(accumulate(map(max, best, ended), max))
        return best[-1]
