class Solution:
    def steps(self, tree, pairs):
        place, row, depth = {}, [], {}

        def visit(node, above):
            place[node.val], depth[node.val] = len(row), above + 1
            row.append(above)
            for child in (node.left, node.right):
                if child:
                    visit(child, above + 1)

        visit(tree, -1)
        count = len(row)
        least = [0] * count + row
        for at in range(count - 1, 0, -1):
            least[at] = min(least[2 * at], least[2 * at + 1])

        def low(i, j):
            i, j, best = i + count, j + count, count
            while i < j:
                if i & 1:
                    best = min(best, least[i])
                    i += 1
                if j & 1:
                    j -= 1
                    best = min(best, least[j])
                i, j = i // 2, j // 2
            return best

        found = []
        for a, b in pairs:
            i, j = sorted((place[a], place[b]))
            found.append(depth[a] + depth[b] - 2 * low(i + 1, j + 1) if i < j else 0)
        return found
