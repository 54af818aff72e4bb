class Solution:
    def slabs(self, yard):
        # A flow from a source over dark and light fields to a sink, one unit at a time.
        rows, columns = len(yard), len(yard[0])
        near, dark = {}, []
        for r in range(rows):
            for c in range(r % 2, columns, 2):
                if yard[r][c] == ".":
                    around = ((r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c))
                    dark.append((r, c))
                    near[r, c] = [(a, b) for a, b in around if 0 <= a < rows and 0 <= b < columns and yard[a][b] == "."]
        rest = {"from": dict.fromkeys(dark, 1), "to": {}}
        for field in dark:
            rest[field] = dict.fromkeys(near[field], 1)
            rest[field]["from"] = 0
            for other in near[field]:
                rest.setdefault(other, {"to": 1})[field] = 0
                rest["to"][other] = 0
        flow = 0
        while True:
            before, stack = {"from": None}, ["from"]
            while stack and "to" not in before:
                at = stack.pop()
                for other, left in rest[at].items():
                    if left and other not in before:
                        before[other] = at
                        stack.append(other)
            if "to" not in before:
                return flow
            at = "to"
            while before[at] is not None:
                rest[before[at]][at] -= 1
                rest[at][before[at]] += 1
                at = before[at]
            flow += 1
