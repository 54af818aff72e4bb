import sys


class Solution:
    def slabs(self, yard):
        sys.setrecursionlimit(10_000)
        # A field with one open neighbour can be paved with it; only what is left is searched.
        rows, columns = len(yard), len(yard[0])
        near, dark = {}, []
        for r in range(rows):
            for c in range(r % 2, columns, 2):
                if yard[r][c] == ".":
                    around = ((r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c))
                    dark.append((r, c))
                    near[r, c] = [(a, b) for a, b in around if 0 <= a < rows and 0 <= b < columns and yard[a][b] == "."]
        around = {field: set(others) for field, others in near.items()}
        for field, others in near.items():
            for other in others:
                around.setdefault(other, set()).add(field)
        stack = [field for field, others in around.items() if len(others) == 1]
        found = 0
        while stack:
            field = stack.pop()
            if len(around[field]) != 1:
                continue
            (other,) = around[field]
            found += 1
            for gone in (field, other):
                for beside in around[gone]:
                    around[beside].discard(gone)
                    if len(around[beside]) == 1:
                        stack.append(beside)
                around[gone] = set()
        partner = {}

        def improved(field):
            for other in around[field]:
                if other not in seen:
                    seen.add(other)
                    if other not in partner or improved(partner[other]):
                        partner[other] = field
                        return True
            return False

        for field in dark:
            seen = set()
            found += improved(field)
        return found
