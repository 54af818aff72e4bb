class Solution:
    def mirrored(self, tree, every, depth=1):
        if tree:
            left, right = self.mirrored(tree.left, every, depth + 1), self.mirrored(tree.right, every, depth + 1)
            tree.left, tree.right = (right, left) if depth % every == 0 else (left, right)
        return tree
