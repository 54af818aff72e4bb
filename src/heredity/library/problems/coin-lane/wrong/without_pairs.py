class Solution:
    def bestLead(self, coins):
        count = len(coins)
        lead = [[0] * (count + 1) for _ in range(count + 1)]
        for start in range(count - 1, -1, -1):
            for end in range(start + 1, count + 1):
                lead[start][end] = max(coins[start] - lead[start + 1][end], coins[end - 1] - lead[start][end - 1])
        return lead[0][count]
