from itertools import groupby


class Solution:
    def loudest(self, calls):
        ordered = sorted(range(len(calls)), key=lambda place: calls[place])
        best = (0, 0)
        for _, same in groupby(ordered, key=lambda place: calls[place]):
            same = list(same)
            best = max(best, (len(same), -same[-1]))
        return calls[-best[1]]
