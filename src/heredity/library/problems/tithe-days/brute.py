class Solution:
    def collected(self, coins, days):
        coins, before = list(coins), sum(coins)
        for _ in range(days):
            coins.sort()
            coins[-1] = coins[-1] * 9 // 10
        return before - sum(coins)
