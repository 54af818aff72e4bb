class Solution:
    def bestLead(self, coins):
        # First the game in which nobody may take two, then those in which one may, then the whole.
        count = len(coins)

        none, mine, yours, both = ([[0] * (count + 2) for _ in range(count + 2)] for _ in range(4))
        for end in range(1, count + 1):
            for start in range(end - 1, -1, -1):
                a, b = coins[start], coins[end - 1]
                none[start][end] = max(a - none[start + 1][end], b - none[start][end - 1])
                mine[start][end] = max(a - yours[start + 1][end], b - yours[start][end - 1])
                yours[start][end] = max(a - mine[start + 1][end], b - mine[start][end - 1])
                both[start][end] = max(a - both[start + 1][end], b - both[start][end - 1])
                if end - start > 1:
                    a, b = a + coins[start + 1], b + coins[end - 2]
                    mine[start][end] = max(mine[start][end], a - none[start + 2][end], b - none[start][end - 2])
                    both[start][end] = max(both[start][end], a - mine[start + 2][end], b - mine[start][end - 2])
        return both[0][count]
