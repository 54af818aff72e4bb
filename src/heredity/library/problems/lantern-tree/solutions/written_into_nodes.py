class Solution:
    def brightest(self, tree):
        stack, order = [tree] if tree else [], []
        while stack:
            node = stack.pop()
            order.append(node)
            if node.left:
                stack.append(node.left)
            if node.right:
                stack.append(node.right)
        while order:
            node = order.pop()
            free = lit = 0
            for child in (node.left, node.right):
                if child:
                    free += max(child.val)
                    lit += child.val[1]
            node.val = node.val + lit, free
        return max(tree.val) if tree else 0
