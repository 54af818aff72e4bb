class Solution:
    def steps(self, tree, pairs):
        # Ends of heavy paths make short names of the way to each node: compare those.
        parent, depth, order = {tree.val: None}, {tree.val: 0}, [tree]
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child.val], depth[child.val] = node.val, depth[node.val] + 1
                    order.append(child)
        size = dict.fromkeys(parent, 1)
        for node in reversed(order[1:]):
            size[parent[node.val]] += size[node.val]
        names = {tree.val: ((0, tree.val),)}
        for node in order:
            sides = [child for child in (node.left, node.right) if child]
            heavy = max(sides, key=lambda child: size[child.val], default=None)
            for child in sides:
                here = names[node.val]
                names[child.val] = here if child is heavy else (*here, (depth[node.val], child.val))
        found = []
        for a, b in pairs:
            one, other, low = names[a], names[b], min(depth[a], depth[b])
            for x, y in zip(one, other):
                if x != y:
                    low = min(x[0], y[0])
                    break
            else:
                for way in (one, other):
                    if len(way) > min(len(one), len(other)):
                        low = min(low, way[min(len(one), len(other))][0])
            found.append(depth[a] + depth[b] - 2 * low)
        return found
