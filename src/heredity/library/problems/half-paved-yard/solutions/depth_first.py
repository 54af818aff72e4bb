import sys


class Solution:
    def slabs(self, yard):
        sys.setrecursionlimit(10_000)
        rows, columns = len(yard), len(yard[0])
        near, dark = {}, []
        for r in range(rows):
            for c in range(r % 2, columns, 2):
                if yard[r][c] == ".":
                    around = ((r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c))
                    dark.append((r, c))
                    near[r, c] = [(a, b) for a, b in around if 0 <= a < rows and 0 <= b < columns and yard[a][b] == "."]
        partner = {}

        def improved(field):
            for other in near[field]:
                if other not in seen:
                    seen.add(other)
                    if other not in partner or improved(partner[other]):
                        partner[other] = field
                        return True
            return False

        found = 0
        for field in dark:
            seen = set()
            found += improved(field)
        return found
