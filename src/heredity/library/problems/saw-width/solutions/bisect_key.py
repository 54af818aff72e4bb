from bisect import bisect_right


class Solution:
    def longestBoard(self, logs, saw, boards):
        return bisect_right(
            range(1, max(logs) + 1), -boards, key=lambda d: -sum((log + saw) // (d + saw) for log in logs)
        )
