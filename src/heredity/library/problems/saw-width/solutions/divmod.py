class Solution:
    def longestBoard(self, logs, saw, boards):
        low, high = 0, max(logs)
        while low < high:
            middle = low + (high - low + 1) // 2
            count = 0
            for log in logs:
                whole, rest = divmod(log, middle + saw)
                count += whole + (rest >= middle)
            if count < boards:
                high = middle - 1
            else:
                low = middle
        return low
