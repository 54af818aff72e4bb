class Solution:
    def longestBoard(self, logs, saw, boards):
        low, high = 0, max(logs)
        while low < high:
            middle = (low + high + 1) // 2
            step = middle + saw
            if sum([(log + saw) // step for log in logs]) >= boards:
                low = middle
            else:
                high = middle - 1
        return low
