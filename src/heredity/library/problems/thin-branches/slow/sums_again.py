class Solution:
    def cut(self, tree, least):
        def total(node):
            sum, stack = 0, [node]
            while stack:
                node = stack.pop()
                if node:
                    sum += node.val
                    stack += [node.left, node.right]
            return sum

        order = [tree] if tree else []
        for node in order:
            if node.left:
                order.append(node.left)
            if node.right:
                order.append(node.right)
        for node in reversed(order):
            if node.left and total(node.left) < least:
                node.left = None
            if node.right and total(node.right) < least:
                node.right = None
        return tree if tree and total(tree) >= least else None
