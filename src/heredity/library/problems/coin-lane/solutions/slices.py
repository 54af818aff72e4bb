from functools import lru_cache


class Solution:
    def bestLead(self, coins):
        @lru_cache(None)
        def lead(row, mine, yours):
            if not row:
                return 0
            best = max(row[0] - lead(row[1:], yours, mine), row[-1] - lead(row[:-1], yours, mine))
            if mine and len(row) > 1:
                best = max(
                    best,
                    row[0] + row[1] - lead(row[2:], yours, False),
                    row[-1] + row[-2] - lead(row[:-2], yours, False),
                )
            return best

        return lead(tuple(coins), True, True)
