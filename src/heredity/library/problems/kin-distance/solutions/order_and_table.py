class Solution:
    def steps(self, tree, pairs):
        place, row, depth, stack = {}, [], {}, [(tree, -1)]
        while stack:
            node, above = stack.pop()
            place[node.val], depth[node.val] = len(row), above + 1
            row.append(above)
            stack += [(child, above + 1) for child in (node.left, node.right) if child]
        table, step = [row], 1
        while 2 * step <= len(row):
            table.append([min(x, y) for x, y in zip(table[-1], table[-1][step:])])
            step *= 2
        found = []
        for a, b in pairs:
            if a == b:
                found.append(0)
                continue
            i, j = sorted((place[a], place[b]))
            k = (j - i).bit_length() - 1
            low = min(table[k][i + 1], table[k][j + 1 - 2**k])
            found.append(depth[a] + depth[b] - 2 * low)
        return found
