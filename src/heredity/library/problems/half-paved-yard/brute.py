class Solution:
    def slabs(self, yard):
        rows, columns = len(yard), len(yard[0])
        free = {(r, c) for r in range(rows) for c in range(columns) if yard[r][c] == "."}

        def most(free):
            if not free:
                return 0
            r, c = min(free)
            rest = free - {(r, c)}
            best = most(rest)
            for other in ((r + 1, c), (r, c + 1)):
                if other in rest:
                    best = max(best, 1 + most(rest - {other}))
            return best

        return most(frozenset(free))
