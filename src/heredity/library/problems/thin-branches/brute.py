class Solution:
    def cut(self, tree, least):
        def total(node):
            return node.val + total(node.left) + total(node.right) if node else 0

        if tree:
            tree.left, tree.right = self.cut(tree.left, least), self.cut(tree.right, least)
            if total(tree) < least:
                return None
        return tree
