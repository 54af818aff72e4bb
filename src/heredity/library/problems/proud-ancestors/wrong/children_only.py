class Solution:
    def proud(self, tree):
        if not tree:
            return 0
        below = sum(child.val for child in (tree.left, tree.right) if child)
        return (tree.val > below) + self.proud(tree.left) + self.proud(tree.right)
