class Solution:
    def steps(self, tree, pairs):
        parent, depth, order = {tree.val: None}, {tree.val: 0}, [tree]
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child.val], depth[child.val] = node.val, depth[node.val] + 1
                    order.append(child)
        parent[tree.val] = tree.val
        ups = [parent]
        while 2 ** len(ups) < len(order):
            last = ups[-1]
            ups.append({a: last[last[a]] for a in last})
        found = []
        for a, b in pairs:
            length = depth[a] + depth[b]
            if depth[a] < depth[b]:
                a, b = b, a
            apart = depth[a] - depth[b]
            for up in ups:
                if apart & 1:
                    a = up[a]
                apart >>= 1
            if a != b:
                for up in reversed(ups):
                    if up[a] != up[b]:
                        a, b = up[a], up[b]
                a = parent[a]
            found.append(length - 2 * depth[a])
        return found
