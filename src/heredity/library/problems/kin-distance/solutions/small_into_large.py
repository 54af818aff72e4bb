class Solution:
    def steps(self, tree, pairs):
        parent, depth, order = {tree.val: None}, {tree.val: 0}, [tree]
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child.val], depth[child.val] = node.val, depth[node.val] + 1
                    order.append(child)
        found, open_at = [0] * len(pairs), {a: set() for a in parent}
        for number, (a, b) in enumerate(pairs):
            if a != b:
                open_at[a].add(number)
                open_at[b].add(number)
        for node in reversed(order):
            here = open_at.pop(node.val)
            for child in (node.left, node.right):
                if child:
                    other = open_at.pop(child.val)
                    if len(other) > len(here):
                        here, other = other, here
                    for number in other:
                        if number in here:
                            here.remove(number)
                            a, b = pairs[number]
                            found[number] = depth[a] + depth[b] - 2 * depth[node.val]
                        else:
                            here.add(number)
            open_at[node.val] = here
        return found
