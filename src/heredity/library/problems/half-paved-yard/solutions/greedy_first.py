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
        partner, found = {}, 0
        waiting = []
        for field in dark:
            for other in near[field]:
                if other not in partner:
                    partner[other] = field
                    found += 1
                    break
            else:
                waiting.append(field)

        def improved(field, seen):
            for other in near[field]:
                if other not in partner:
                    partner[other] = field
                    return True
            for other in near[field]:
                if other not in seen:
                    seen.add(other)
                    if improved(partner[other], seen):
                        partner[other] = field
                        return True
            return False

        return found + sum(improved(field, set()) for field in waiting)
