class Solution:
    def bestLead(self, coins):
        def lead(row, mine, yours):
            if not row:
                return 0
            options = [row[0] - lead(row[1:], yours, mine), row[-1] - lead(row[:-1], yours, mine)]
            if mine and len(row) > 1:
                options += [sum(row[:2]) - lead(row[2:], yours, False), sum(row[-2:]) - lead(row[:-2], yours, False)]
            return max(options)

        return lead(coins, True, True)
