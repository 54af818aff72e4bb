from collections import deque


class Solution:
    def proud(self, tree):
        order, queue = [], deque([tree] if tree else [])
        while queue:
            node = queue.popleft()
            order.append(node)
            queue.extend(child for child in (node.left, node.right) if child)
        for node in order:
            node.sum = node.val
        count = 0
        for node in reversed(order):
            left = node.left.sum if node.left else 0
            right = node.right.sum if node.right else 0
            count += node.val > left + right
            node.sum += left + right
        return count
