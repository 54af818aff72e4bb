class Solution:
    def mirrored(self, tree, every):
        level, depth = [tree] if tree else [], 0
        while level:
            below = [child for node in level for child in (node.left, node.right) if child]
            if (depth + 1) % every == 0 or every == 1:
                values = [node.val for node in below][::-1]
                for node, value in zip(below, values):
                    node.val = value
            level, depth = below, depth + 1
        return tree
