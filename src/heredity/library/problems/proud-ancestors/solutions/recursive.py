class Solution:
    def proud(self, tree):
        count = 0

        def total(node):
            nonlocal count
            if not node:
                return 0
            below = total(node.left) + total(node.right)
            count += node.val > below
            return below + node.val

        total(tree)
        return count
