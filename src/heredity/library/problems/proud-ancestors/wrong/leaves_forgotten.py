class Solution:
    def proud(self, tree):
        def visit(node):
            if not node:
                return 0, 0
            a, b = visit(node.left)
            c, d = visit(node.right)
            inner = node.left is not None or node.right is not None
            return a + c + node.val, b + d + (inner and node.val > a + c)

        return visit(tree)[1]
