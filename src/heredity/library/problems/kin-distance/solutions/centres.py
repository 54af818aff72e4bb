class Solution:
    def steps(self, tree, pairs):
        parent, depth, order = {tree.val: None}, {tree.val: 0}, [tree]
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child.val], depth[child.val] = node.val, depth[node.val] + 1
                    order.append(child)
        near = {a: [] for a in parent}
        for a, b in parent.items():
            if b is not None:
                near[a].append(b)
                near[b].append(a)
        gone, ways, stack = set(), {a: {} for a in near}, [tree.val]
        while stack:
            start = stack.pop()
            row, back = [start], {start: None}
            for a in row:
                for b in near[a]:
                    if b not in gone and b != back[a]:
                        back[b] = a
                        row.append(b)
            size = dict.fromkeys(row, 1)
            centre = start
            for a in reversed(row):
                if 2 * size[a] >= len(row):
                    centre = a
                    break
                size[back[a]] += size[a]
            gone.add(centre)
            row = [(centre, None, 0)]
            for a, b, far in row:
                ways[a][centre] = far
                row += [(c, a, far + 1) for c in near[a] if c != b and c not in gone]
            stack += [b for b in near[centre] if b not in gone]
        found = []
        for a, b in pairs:
            one, other = ways[a], ways[b]
            found.append(min(far + other[centre] for centre, far in one.items() if centre in other))
        return found
