class Solution:
    def mirrored(self, tree, every):
        order = [tree] if tree else []
        for node in order:
            if node.left:
                order.append(node.left)
            if node.right:
                order.append(node.right)
        depths = {tree: 0}
        for node in order:
            depths[node.left] = depths[node.right] = depths[node] + 1
        for node in order:
            if depths[node] % every == 0:
                node.left, node.right = node.right, node.left
        return tree
