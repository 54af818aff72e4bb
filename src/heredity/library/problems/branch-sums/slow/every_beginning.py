class Solution:
    def even(self, tree, guests):
        order = [tree] if tree else []
        for node in order:
            if node.left:
                order.append(node.left)
            if node.right:
                order.append(node.right)
        count = 0
        for start in order:
            stack = [(start, 0)]
            while stack:
                node, total = stack.pop()
                if node:
                    total += node.val
                    count += total % guests == 0
                    stack += [(node.left, total), (node.right, total)]
        return count
