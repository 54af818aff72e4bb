class Solution:
    def longestBoard(self, logs, saw, boards):
        return max(0, (sum(logs) + saw * len(logs)) // boards - saw)
