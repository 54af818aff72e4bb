class Solution:
    def bestLead(self, coins):
        count = len(coins)
        # lead[mine][yours][start][end] is the lead of who is to move, by who may still take two.
        shape = [[[0] * (count + 3) for _ in range(count + 3)] for _ in range(4)]
        lead = {(0, 0): shape[0], (0, 1): shape[1], (1, 0): shape[2], (1, 1): shape[3]}
        for start in range(count - 1, -1, -1):
            for end in range(start + 1, count + 1):
                left, right = coins[start], coins[end - 1]
                for (mine, yours), table in lead.items():
                    swapped = lead[yours, mine]
                    best = left - swapped[start + 1][end]
                    other = right - swapped[start][end - 1]
                    if other > best:
                        best = other
                    if mine and end - start > 1:
                        after = lead[yours, 0]
                        best = max(
                            best,
                            left + coins[start + 1] - after[start + 2][end],
                            right + coins[end - 2] - after[start][end - 2],
                        )
                    table[start][end] = best
        return lead[1, 1][0][count]
