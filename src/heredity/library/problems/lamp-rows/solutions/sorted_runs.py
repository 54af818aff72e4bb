from itertools import groupby


class Solution:
    def bright(self, rows, columns, pulls):
        count = [[rows, 0, 0], [columns, 0, 0]]
        for (side, _), run in groupby(sorted(pulls)):
            count[side][0] -= 1
            count[side][len(list(run)) % 3] += 1
        down, across = count
        return down[0] * across[2] + down[1] * across[1] + down[2] * across[0]
