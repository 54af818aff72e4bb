from bisect import bisect_left


class Solution:
    def longestBoard(self, logs, saw, boards):
        logs.sort()
        low, high = 0, logs[-1]
        while low < high:
            middle = (low + high + 1) // 2
            first = bisect_left(logs, middle)
            if sum((log + saw) // (middle + saw) for log in logs[first:]) >= boards:
                low = middle
            else:
                high = middle - 1
        return low
