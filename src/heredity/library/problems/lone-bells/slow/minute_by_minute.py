class Solution:
    def loneMinute(self, periods, k):
        if all(any(j != i and a % b == 0 for j, b in enumerate(periods)) for i, a in enumerate(periods)):
            return -1
        minute = 0
        while k:
            minute += 1
            if sum(minute % period == 0 for period in periods) == 1:
                k -= 1
        return minute
