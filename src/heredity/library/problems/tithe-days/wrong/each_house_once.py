class Solution:
    def collected(self, coins, days):
        return sum(-(-c // 10) for c in sorted(coins, reverse=True)[:days])
