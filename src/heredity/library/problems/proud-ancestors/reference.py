class Solution:
    def proud(self, tree):
        order = [tree] if tree else []
        for node in order:
            if node.left:
                order.append(node.left)
            if node.right:
                order.append(node.right)
        sums, count = {None: 0}, 0
        for node in reversed(order):
            below = sums[node.left] + sums[node.right]
            count += node.val > below
            sums[node] = below + node.val
        return count
