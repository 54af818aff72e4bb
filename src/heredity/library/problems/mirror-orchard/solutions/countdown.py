class Solution:
    def mirrored(self, tree, every):
        def visit(node, left):
            if node:
                if left == 0:
                    node.left, node.right = node.right, node.left
                    left = every
                visit(node.left, left - 1)
                visit(node.right, left - 1)

        visit(tree, 0)
        return tree
