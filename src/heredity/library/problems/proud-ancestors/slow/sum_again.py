class Solution:
    def proud(self, tree):
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
        return sum(2 * node.val > total(node) for node in order)
