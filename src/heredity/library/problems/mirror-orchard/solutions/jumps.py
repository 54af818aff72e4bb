class Solution:
    def mirrored(self, tree, every):
        tops = [tree] if tree else []
        while tops:
            for node in tops:
                node.left, node.right = node.right, node.left
            for _ in range(every):
                tops = [child for node in tops for child in (node.left, node.right) if child]
                if not tops:
                    break
        return tree
