class Solution:
    def mirrored(self, tree, every):
        level, depth = [tree] if tree else [], 0
        while level:
            if depth % every == 0:
                for node in level:
                    node.left, node.right = node.right, node.left
            level = [child for node in level for child in (node.left, node.right) if child]
            depth += 1
        return tree
