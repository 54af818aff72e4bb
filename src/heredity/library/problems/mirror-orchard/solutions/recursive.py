class Solution:
    def mirrored(self, tree, every):
        def visit(node, depth):
            if node is None:
                return
            if depth % every == 0:
                node.left, node.right = node.right, node.left
            visit(node.left, depth + 1)
            visit(node.right, depth + 1)

        visit(tree, 0)
        return tree
