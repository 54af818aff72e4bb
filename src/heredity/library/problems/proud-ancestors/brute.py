class Solution:
    def proud(self, tree):
        def total(node):
            return node.val + total(node.left) + total(node.right) if node else 0

        if not tree:
            return 0
        here = tree.val > total(tree.left) + total(tree.right)
        return here + self.proud(tree.left) + self.proud(tree.right)
