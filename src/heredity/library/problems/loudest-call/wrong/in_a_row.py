from itertools import groupby


class Solution:
    def loudest(self, calls):
        best, most = "", 0
        for call, run in groupby(calls):
            times = len(list(run))
            if times > most:
                best, most = call, times
        return best
