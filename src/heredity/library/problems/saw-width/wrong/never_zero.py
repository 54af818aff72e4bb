class Solution:
    def longestBoard(self, logs, saw, boards):
        low, high = 1, max(logs)
        while low < high:
            middle = (low + high + 1) // 2
            if sum((log + saw) // (middle + saw) for log in logs) >= boards:
                low = middle
            else:
                high = middle - 1
        return low
