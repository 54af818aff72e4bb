class Solution:
    def longestBoard(self, logs, saw, boards):
        length = 0
        for bit in range(29, -1, -1):
            tried = length | 1 << bit
            if sum((log + saw) // (tried + saw) for log in logs) >= boards:
                length = tried
        return length
