class Solution:
    def longestBoard(self, logs, saw, boards):
        low, high = 0, max(logs)
        while low < high:
            middle = (low + high + 1) // 2
            if sum(log // (middle + saw) for log in logs) >= boards:
                low = middle
            else:
                high = middle - 1
        return low
