class Solution:
    def proud(self, tree):
        def visit(node):
            if node is None:
                return (0, 0)
            left, right = visit(node.left), visit(node.right)
            below = left[0] + right[0]
            return (below + node.val, left[1] + right[1] + (node.val > below))

        return visit(tree)[1]
