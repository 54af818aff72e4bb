class Solution:
    def cut(self, tree, least):
        def total(node):
            if not node:
                return 0
            a, b = total(node.left), total(node.right)
            if node.left and a < least:
                node.left, a = None, 0
            if node.right and b < least:
                node.right, b = None, 0
            return node.val + a + b

        total(tree)
        return tree
