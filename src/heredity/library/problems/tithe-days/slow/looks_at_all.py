class Solution:
    def collected(self, coins, days):
        coins, total = list(coins), 0
        for _ in range(days):
            most = max(coins)
            tithe = (most + 9) // 10
            coins[coins.index(most)] -= tithe
            total += tithe
        return total
