class Solution:
    def even(self, tree, guests):
        def begun(node, total):
            if not node:
                return 0
            total += node.val
            if not node.left and not node.right:
                return int(total % guests == 0)
            return begun(node.left, total) + begun(node.right, total)

        if not tree:
            return 0
        return begun(tree, 0) + self.even(tree.left, guests) + self.even(tree.right, guests)
