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
        # Trees of ways from free dark fields are kept until one of them grows to a free light field.
        partner, mine = {}, {}
        while True:
            roots = [field for field in dark if field not in mine]
            owner = {field: field for field in roots}
            queue, before, done = list(roots), {}, set()
            for field in queue:
                root = owner[field]
                if root in done:
                    continue
                for other in near[field]:
                    if other in before:
                        continue
                    before[other] = field
                    if other not in partner:
                        done.add(root)
                        while True:
                            field = before[other]
                            after = mine.get(field)
                            partner[other], mine[field] = field, other
                            if after is None:
                                break
                            other = after
                        break
                    back = partner[other]
                    owner[back] = root
                    queue.append(back)
            if not done:
                return len(mine)
