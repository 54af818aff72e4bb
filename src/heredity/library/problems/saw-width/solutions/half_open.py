class Solution:
    def longestBoard(self, logs, saw, boards):
        good, bad = 0, max(logs) + 1
        while bad - good > 1:
            middle = (good + bad) // 2
            count = 0
            for log in logs:
                count += (log + saw) // (middle + saw)
            if count >= boards:
                good = middle
            else:
                bad = middle
        return good
