class Solution:
    def proud(self, tree):
        order, stack = [], [tree]
        while stack:
            node = stack.pop()
            if node:
                order.append(node)
                stack += [node.right, node.left]
        for node in order:
            node.sum = node.val
        count = 0
        for node in reversed(order):
            left = node.left.sum if node.left else 0
            right = node.right.sum if node.right else 0
            count += node.val > left + right
            node.sum += left + right
        return count
