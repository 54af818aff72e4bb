class Solution:
    def cut(self, tree, least):
        order = [tree] if tree else []
        for node in order:
            if node.left:
                order.append(node.left)
            if node.right:
                order.append(node.right)
        sums = {}
        for node in reversed(order):
            total = node.val
            if node.left:
                left = sums[node.left]
                if left < least:
                    node.left = None
                else:
                    total += left
            if node.right:
                right = sums[node.right]
                if right < least:
                    node.right = None
                else:
                    total += right
            sums[node] = total
        return tree if tree and sums[tree] >= least else None
