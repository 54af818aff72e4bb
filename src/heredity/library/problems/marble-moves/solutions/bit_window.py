class Solution:
    def winningHeaps(self, most, handfuls):
        moves = 0
        for handful in handfuls:
            moves |= 1 << handful - 1
        keep = (1 << max(handfuls)) - 1
        window, count = 1, 0
        for _ in range(most):
            wins = not window & moves == 0
            count += wins
            window = (window << 1 | (not wins)) & keep
        return count
