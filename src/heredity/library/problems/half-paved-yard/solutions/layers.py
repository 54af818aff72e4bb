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
        mine, partner, found = dict.fromkeys(dark), {}, 0
        while True:
            # Layers from all dark fields that are free.
            layer = {field: 0 for field in dark if mine[field] is None}
            queue, reached = list(layer), False
            for field in queue:
                for other in near[field]:
                    if other not in partner:
                        reached = True
                    elif partner[other] not in layer:
                        layer[partner[other]] = layer[field] + 1
                        queue.append(partner[other])
            if not reached:
                return found

            def improved(field):
                for other in near[field]:
                    back = partner.get(other)
                    if back is None or layer.get(back) == layer[field] + 1 and improved(back):
                        mine[field], partner[other] = other, field
                        return True
                layer[field] = -1
                return False

            for field in dark:
                if mine[field] is None:
                    found += improved(field)
