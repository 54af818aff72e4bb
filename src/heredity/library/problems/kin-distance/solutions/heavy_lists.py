class Solution:
    def steps(self, tree, pairs):
        name, nodes, up, depth = {}, [tree], [-1], [0]
        for at, node in enumerate(nodes):
            name[node.val] = at
            for child in (node.left, node.right):
                if child:
                    nodes.append(child)
                    up.append(at)
                    depth.append(depth[at] + 1)
        count = len(nodes)
        size, heavy = [1] * count, [-1] * count
        for at in range(count - 1, 0, -1):
            p = up[at]
            size[p] += size[at]
            if heavy[p] < 0 or size[at] > size[heavy[p]]:
                heavy[p] = at
        top = list(range(count))
        for at in range(1, count):
            if heavy[up[at]] == at:
                top[at] = top[up[at]]
        found = []
        for a, b in pairs:
            a, b = name[a], name[b]
            length = depth[a] + depth[b]
            while top[a] != top[b]:
                if depth[top[a]] > depth[top[b]]:
                    a = up[top[a]]
                else:
                    b = up[top[b]]
            found.append(length - 2 * depth[a if depth[a] < depth[b] else b])
        return found
