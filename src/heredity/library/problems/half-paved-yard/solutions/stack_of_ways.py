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
        partner, found = {}, 0
        for start in dark:
            # Each entry: a dark field and the neighbours that it can still try; `ways` are the light fields between.
            seen, stack, ways = set(), [(start, iter(near[start]))], []
            while stack:
                field, rest = stack[-1]
                other = next((one for one in rest if one not in seen), None)
                if other is None:
                    stack.pop()
                    if ways:
                        ways.pop()
                    continue
                seen.add(other)
                ways.append(other)
                if other not in partner:
                    for (one, _), light in zip(stack, ways):
                        partner[light] = one
                    found += 1
                    break
                stack.append((partner[other], iter(near[partner[other]])))
        return found
