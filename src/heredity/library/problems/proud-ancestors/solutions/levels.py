class Solution:
    def proud(self, tree):
        order, level = [], [tree] if tree else []
        while level:
            order += level
            level = [child for node in level for child in (node.left, node.right) if child]
        for node in order:
            node.sum = node.val
        count = 0
        for node in reversed(order):
            left = node.left.sum if node.left else 0
            right = node.right.sum if node.right else 0
            count += node.val > left + right
            node.sum += left + right
        return count
