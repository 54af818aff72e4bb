class Solution:
    def mirrored(self, tree, every):
        def copy(node, depth):
            if not node:
                return None
            left, right = copy(node.left, depth + 1), copy(node.right, depth + 1)
            return TreeNode(node.val, right, left) if depth % every == 0 else TreeNode(node.val, left, right)

        return copy(tree, 0)
