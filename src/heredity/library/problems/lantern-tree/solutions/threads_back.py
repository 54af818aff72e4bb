class Solution:
    def brightest(self, tree):
        # Children first by turning the order "node, right, left" over; results wait on a stack.
        order, stack = [], [tree]
        while stack:
            node = stack.pop()
            order.append(node)
            if node:
                stack.append(node.left)
                stack.append(node.right)
        lit, free = [], []
        for node in reversed(order):
            if node is None:
                lit.append(0)
                free.append(0)
                continue
            a, b, c, d = lit.pop(), free.pop(), lit.pop(), free.pop()
            lit.append(node.val + b + d)
            free.append((a if a > b else b) + (c if c > d else d))
        return max(lit[0], free[0])
