class Solution:
    def bestLead(self, coins):
        count = len(coins)
        size = count + 1
        lead = [0] * (4 * size * size)
        for start in range(count - 1, -1, -1):
            for end in range(start + 1, size):
                here = 4 * (start * size + end)
                for state in range(4):
                    swapped = state >> 1 | (state & 1) << 1
                    best = max(
                        coins[start] - lead[here + 4 * size + swapped], coins[end - 1] - lead[here - 4 + swapped]
                    )
                    if state & 2 and end - start > 1:
                        after = state & 1 and 2
                        best = max(best, coins[start] + coins[start + 1] - lead[here + 8 * size + after])
                        best = max(best, coins[end - 1] + coins[end - 2] - lead[here - 8 + after])
                    lead[here + state] = best
        return lead[4 * count + 3]
