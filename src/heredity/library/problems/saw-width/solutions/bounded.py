class Solution:
    def longestBoard(self, logs, saw, boards):
        totals = [log + saw for log in logs]
        high = min(max(logs), sum(totals) // boards - saw)
        low = 0
        while low < high:
            middle = (low + high + 1) // 2
            if sum(total // (middle + saw) for total in totals) >= boards:
                low = middle
            else:
                high = middle - 1
        return max(low, 0)
