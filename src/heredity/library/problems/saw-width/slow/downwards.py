class Solution:
    def longestBoard(self, logs, saw, boards):
        length = max(logs)
        while length and sum((log + saw) // (length + saw) for log in logs) < boards:
            length -= 1
        return length
