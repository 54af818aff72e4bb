from collections import Counter


class Solution:
    def longestBoard(self, logs, saw, boards):
        groups = [(log + saw, count) for log, count in Counter(logs).items()]
        low, high = 0, max(logs)
        while low < high:
            middle = (low + high + 1) // 2
            if sum(total // (middle + saw) * count for total, count in groups) >= boards:
                low = middle
            else:
                high = middle - 1
        return low
