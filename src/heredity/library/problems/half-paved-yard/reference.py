class Solution:
    def slabs(self, yard):
        rows, columns = len(yard), len(yard[0])
        near, dark = {}, []
        for r in range(rows):
            for c in range(r % 2, columns, 2):
                if yard[r][c] == ".":
                    around = ((r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c))
                    dark.append((r, c))
                    near[r, c] = [(a, b) for a, b in around if 0 <= a < rows and 0 <= b < columns and yard[a][b] == "."]
        # Breadth first from each dark field that is free, along fields and their partners.
        partner = {}
        found = 0
        for start in dark:
            if start in partner:
                continue
            queue, before, end = [start], {start: None}, None
            for field in queue:
                for other in near[field]:
                    if other in before:
                        continue
                    before[other] = field
                    if other not in partner:
                        end = other
                        break
                    before[partner[other]] = other
                    queue.append(partner[other])
                if end is not None:
                    break
            if end is None:
                continue
            found += 1
            while end is not None:
                field = before[end]
                partner[end], partner[field] = field, end
                end = before[field]
        return found
