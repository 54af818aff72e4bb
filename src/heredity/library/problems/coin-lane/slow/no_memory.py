class Solution:
    def bestLead(self, coins):
        def lead(start, end, mine, yours):
            if start >= end:
                return 0
            best = max(
                coins[start] - lead(start + 1, end, yours, mine), coins[end - 1] - lead(start, end - 1, yours, mine)
            )
            if mine and end - start > 1:
                best = max(best, coins[start] + coins[start + 1] - lead(start + 2, end, yours, False))
                best = max(best, coins[end - 1] + coins[end - 2] - lead(start, end - 2, yours, False))
            return best

        return lead(0, len(coins), True, True)
