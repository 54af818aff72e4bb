class Solution:
    def slabs(self, yard):
        rows, columns = len(yard), len(yard[0])
        fields = [(r, c) for r in range(rows) for c in range(columns) if yard[r][c] == "."]
        free = set(fields)
        best = 0

        def go_on(at, laid, left):
            nonlocal best
            best = max(best, laid)
            if laid + left // 2 <= best or at == len(fields):
                return
            field = fields[at]
            if field not in free:
                go_on(at + 1, laid, left)
                return
            free.discard(field)
            for other in ((field[0], field[1] + 1), (field[0] + 1, field[1])):
                if other in free:
                    free.discard(other)
                    go_on(at + 1, laid + 1, left - 2)
                    free.add(other)
            go_on(at + 1, laid, left - 1)
            free.add(field)

        go_on(0, 0, len(fields))
        return best
