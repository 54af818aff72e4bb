class Solution:
    def longestBoard(self, logs, saw, boards):
        for length in range(max(logs), 0, -1):
            count = 0
            for log in logs:
                while log >= length:
                    count += 1
                    log -= length + saw
            if count >= boards:
                return length
        return 0
