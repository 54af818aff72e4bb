class Solution:
    def steps(self, tree, pairs):
        parent, depth, order = {tree.val: None}, {tree.val: 0}, [tree]
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child.val], depth[child.val] = node.val, depth[node.val] + 1
                    order.append(child)
        found = []
        for a, b in pairs:
            node = tree
            while node and not min(a, b) <= node.val <= max(a, b):
                node = node.right if node.val < a else node.left
            found.append(depth[a] + depth[b] - 2 * depth[node.val] if node else 0)
        return found
