class Solution:
    def cut(self, tree, least):
        if not tree:
            return None
        tree.left, tree.right = self.cut(tree.left, least), self.cut(tree.right, least)
        return None if not tree.left and not tree.right and tree.val < least else tree
