class Solution:
    def cut(self, tree, least):
        root = TreeNode(0, tree)
        first, second = [root], []
        while first:
            node = first.pop()
            second.append(node)
            for child in (node.left, node.right):
                if child:
                    first.append(child)
        while second:
            node = second.pop()
            node.sum = node.val
            if node.left and node.left.sum < least:
                node.left = None
            if node.right and node.right.sum < least:
                node.right = None
            node.sum += (node.left.sum if node.left else 0) + (node.right.sum if node.right else 0)
        return root.left
