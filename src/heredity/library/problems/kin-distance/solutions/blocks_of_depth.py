class Solution:
    def steps(self, tree, pairs):
        parent, depth, order = {tree.val: None}, {tree.val: 0}, [tree]
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child.val], depth[child.val] = node.val, depth[node.val] + 1
                    order.append(child)
        block = int(max(depth.values()) ** 0.5) + 1
        far = {tree.val: tree.val}
        parent[tree.val] = tree.val
        for node in order[1:]:
            a = node.val
            far[a] = parent[a] if depth[a] % block == 0 else far[parent[a]]
        found = []
        for a, b in pairs:
            length = depth[a] + depth[b]
            while far[a] != far[b]:
                if depth[a] // block < depth[b] // block:
                    a, b = b, a
                a = far[a]
            while a != b:
                if depth[a] < depth[b]:
                    a, b = b, a
                a = parent[a]
            found.append(length - 2 * depth[a])
        return found
