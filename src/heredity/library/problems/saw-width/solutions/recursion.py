class Solution:
    def longestBoard(self, logs, saw, boards):
        def search(low, high):
            if low == high:
                return low
            middle = (low + high + 1) // 2
            count = sum(map(lambda log: (log + saw) // (middle + saw), logs))
            return search(middle, high) if count >= boards else search(low, middle - 1)

        return search(0, max(logs))
