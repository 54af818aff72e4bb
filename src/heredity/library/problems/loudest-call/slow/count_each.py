class Solution:
    def loudest(self, calls):
        best, most, soonest = "", 0, 0
        for place, call in enumerate(calls):
            times = calls.count(call)
            last = len(calls) - 1 - calls[::-1].index(call)
            if (times, -last) > (most, -soonest):
                best, most, soonest = call, times, last
        return best
