class Solution:
    def mirrored(self, tree, every):
        order, level = [], [tree] if tree else []
        while level:
            order += level
            level = [child for node in level for child in (node.left, node.right) if child]
        depths = {tree: 0}
        for node in order:
            depths[node.left] = depths[node.right] = depths[node] + 1
        for node in order:
            if depths[node] % every == 0:
                node.left, node.right = node.right, node.left
        return tree
