class Solution:
    def cut(self, tree, least):
        def copied(node):
            if not node:
                return None, 0
            left, a = copied(node.left)
            right, b = copied(node.right)
            total = a + b + node.val
            if total < least:
                return None, 0
            return TreeNode(node.val, left, right), total

        return copied(tree)[0]
