from bisect import insort


class Solution:
    def collected(self, coins, days):
        row, total = sorted(coins)[-max(days, 1) :], 0
        for _ in range(days):
            most = row.pop()
            tithe = -(-most // 10)
            total += tithe
            insort(row, most - tithe)
        return total
