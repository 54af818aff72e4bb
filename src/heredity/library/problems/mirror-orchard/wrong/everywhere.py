class Solution:
    def mirrored(self, tree, every):
        if tree:
            tree.left, tree.right = self.mirrored(tree.right, every), self.mirrored(tree.left, every)
        return tree
