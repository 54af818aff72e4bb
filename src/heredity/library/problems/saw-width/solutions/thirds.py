class Solution:
    def longestBoard(self, logs, saw, boards):
        def enough(length):
            return sum([(log + saw) // (length + saw) for log in logs]) >= boards

        low, high = 0, max(logs)
        while low < high:
            third = (high - low + 2) // 3
            if enough(high - third + 1):
                low = high - third + 1
            elif enough(low + third):
                low, high = low + third, high - third
            else:
                high = low + third - 1
        return low
