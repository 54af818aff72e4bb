class Solution:
    def cut(self, tree, least):
        def total(node):
            if node:
                node.sum = node.val + total(node.left) + total(node.right)
            return node.sum if node else 0

        def cut(node):
            if not node or node.sum < least:
                return None
            node.left, node.right = cut(node.left), cut(node.right)
            return node

        total(tree)
        return cut(tree)
