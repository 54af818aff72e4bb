class Solution:
    def cut(self, tree, least):
        def visit(node):
            if not node:
                return None, 0
            node.left, a = visit(node.left)
            node.right, b = visit(node.right)
            total = node.val + a + b
            return (node, total) if total > least else (None, 0)

        return visit(tree)[0]
