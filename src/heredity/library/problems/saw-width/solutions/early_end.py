class Solution:
    def longestBoard(self, logs, saw, boards):
        def enough(length):
            count = 0
            for log in logs:
                count += (log + saw) // (length + saw)
                if count >= boards:
                    return True
            return False

        logs.sort(reverse=True)
        low, high = 0, logs[0]
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if enough(middle) else (low, middle - 1)
        return low
