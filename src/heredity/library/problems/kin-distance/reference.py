class Solution:
    def steps(self, tree, pairs):
        parent, depth, order = {tree.val: None}, {tree.val: 0}, [tree]
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child.val], depth[child.val] = node.val, depth[node.val] + 1
                    order.append(child)
        size = dict.fromkeys(parent, 1)
        heavy = {}
        for node in reversed(order):
            a, up = node.val, parent[node.val]
            if up is not None:
                size[up] += size[a]
                if up not in heavy or size[a] > size[heavy[up]]:
                    heavy[up] = a
        top = {}
        for node in order:
            a = node.val
            up = parent[a]
            top[a] = top[up] if up is not None and heavy[up] == a else a
        found = []
        for a, b in pairs:
            length = depth[a] + depth[b]
            while top[a] != top[b]:
                if depth[top[a]] < depth[top[b]]:
                    a, b = b, a
                a = parent[top[a]]
            found.append(length - 2 * min(depth[a], depth[b]))
        return found
