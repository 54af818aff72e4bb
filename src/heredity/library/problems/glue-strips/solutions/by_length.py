from itertools import accumulate


class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        sums = [0, *accumulate(widths)]
        best = [[0] * (count + 1) for _ in range(count + 1)]
        for length in range(2, count + 1):
            for start in range(count - length + 1):
                end = start + length
                best[start][end] = min(
                    best[start][cut] + best[cut][end] + max(sums[cut] - sums[start], sums[end] - sums[cut])
                    for cut in range(start + 1, end)
                )
        return best[0][count]
