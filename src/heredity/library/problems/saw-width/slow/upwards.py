class Solution:
    def longestBoard(self, logs, saw, boards):
        length = 0
        while sum((log + saw) // (length + 1 + saw) for log in logs) >= boards:
            length += 1
        return length
