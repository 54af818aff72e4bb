class Solution:
    def loneMinute(self, periods, k):
        for minute in range(1, 200_000):
            if sum(minute % period == 0 for period in periods) == 1:
                k -= 1
                if not k:
                    return minute
        return -1
