class Solution:
    def mirrored(self, tree, every):
        order, stack = [], [tree]
        while stack:
            node = stack.pop()
            if node:
                order.append(node)
                stack += [node.right, node.left]
        depths = {tree: 0}
        for node in order:
            depths[node.left] = depths[node.right] = depths[node] + 1
        for node in order:
            if depths[node] % every == 0:
                node.left, node.right = node.right, node.left
        return tree
