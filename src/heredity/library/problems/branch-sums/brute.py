class Solution:
    def even(self, tree, guests):
        def begun(node, total):
            if not node:
                return 0
            total += node.val
            return (total % guests == 0) + begun(node.left, total) + begun(node.right, total)

        if not tree:
            return 0
        return begun(tree, 0) + self.even(tree.left, guests) + self.even(tree.right, guests)
