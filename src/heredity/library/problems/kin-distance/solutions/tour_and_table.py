class Solution:
    def steps(self, tree, pairs):
        tour, first, depth, stack = [], {}, {}, [(tree, 0)]
        while stack:
            node, level = stack.pop()
            if isinstance(node, TreeNode):
                first[node.val], depth[node.val] = len(tour), level
                for child in (node.left, node.right):
                    if child:
                        stack += [(None, level), (child, level + 1)]
            tour.append(level)
        table = [tour]
        step = 1
        while 2 * step <= len(tour):
            last = table[-1]
            table.append(list(map(min, last, last[step:])))
            step *= 2
        found = []
        for a, b in pairs:
            i, j = sorted((first[a], first[b]))
            row = table[(j - i + 1).bit_length() - 1]
            low = min(row[i], row[j + 1 - (1 << ((j - i + 1).bit_length() - 1))])
            found.append(depth[a] + depth[b] - 2 * low)
        return found
