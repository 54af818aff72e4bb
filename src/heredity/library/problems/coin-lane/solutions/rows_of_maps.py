class Solution:
    def bestLead(self, coins):
        count = len(coins)
        rows = {}
        for start in range(count + 1, -1, -1):
            row = {}
            for end in range(start, count + 1):
                for mine, yours in ((0, 0), (0, 1), (1, 0), (1, 1)):
                    if end == start:
                        row[end, mine, yours] = 0
                        continue
                    options = [
                        coins[start] - rows[start + 1][end, yours, mine],
                        coins[end - 1] - row[end - 1, yours, mine],
                    ]
                    if mine and end > start + 1:
                        options += [
                            coins[start] + coins[start + 1] - rows[start + 2][end, yours, 0],
                            coins[end - 1] + coins[end - 2] - row[end - 2, yours, 0],
                        ]
                    row[end, mine, yours] = max(options)
            rows[start] = row
        return rows[0][count, 1, 1]
