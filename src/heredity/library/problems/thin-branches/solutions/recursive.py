class Solution:
    def cut(self, tree, least):
        def visit(node):
            if node is None:
                return 0, None
            a, node.left = visit(node.left)
            b, node.right = visit(node.right)
            total = node.val + a + b
            return (total, node) if total >= least else (0, None)

        return visit(tree)[1]
