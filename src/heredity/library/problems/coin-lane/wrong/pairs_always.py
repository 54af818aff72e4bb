class Solution:
    def bestLead(self, coins):
        count = len(coins)
        lead = [[0] * (count + 1) for _ in range(count + 1)]
        for start in range(count - 1, -1, -1):
            for end in range(start + 1, count + 1):
                options = [coins[start] - lead[start + 1][end], coins[end - 1] - lead[start][end - 1]]
                if end - start > 1:
                    options.append(coins[start] + coins[start + 1] - lead[start + 2][end])
                    options.append(coins[end - 1] + coins[end - 2] - lead[start][end - 2])
                lead[start][end] = max(options)
        return lead[0][count]
