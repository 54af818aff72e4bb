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
            count = 0
            while a != b:
                if depth[a] < depth[b]:
                    a, b = b, a
                a, count = parent[a], count + 1
            found.append(count)
        return found
