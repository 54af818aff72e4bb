class Solution:
    def steps(self, tree, pairs):
        parent, depth, order = {tree.val: None}, {tree.val: 0}, [tree]
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child.val], depth[child.val] = node.val, depth[node.val] + 1
                    order.append(child)
        parent[tree.val] = tree.val
        jump = {tree.val: tree.val}
        for node in order[1:]:
            p = parent[node.val]
            j = jump[p]
            jump[node.val] = jump[j] if depth[p] - depth[j] == depth[j] - depth[jump[j]] else p
        found = []
        for a, b in pairs:
            length = depth[a] + depth[b]
            if depth[a] < depth[b]:
                a, b = b, a
            while depth[a] > depth[b]:
                a = jump[a] if depth[jump[a]] >= depth[b] else parent[a]
            while a != b:
                if jump[a] != jump[b]:
                    a, b = jump[a], jump[b]
                else:
                    a, b = parent[a], parent[b]
            found.append(length - 2 * depth[a])
        return found
