import sys


class Solution:
    def slabs(self, yard):
        sys.setrecursionlimit(10_000)
        # Fields that were tried in vain in a round are not tried again in it; rounds go on while one helps.
        rows, columns = len(yard), len(yard[0])
        near, dark = {}, []
        for r in range(rows):
            for c in range(r % 2, columns, 2):
                if yard[r][c] == ".":
                    around = ((r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c))
                    dark.append((r, c))
                    near[r, c] = [(a, b) for a, b in around if 0 <= a < rows and 0 <= b < columns and yard[a][b] == "."]
        partner, mine = {}, {}

        def improved(field):
            if field in tried:
                return False
            tried.add(field)
            for other in near[field]:
                if other not in partner or improved(partner[other]):
                    partner[other] = field
                    mine[field] = other
                    return True
            return False

        more = True
        while more:
            tried, more = set(), False
            for field in dark:
                if field not in mine and improved(field):
                    more = True
        return len(mine)
