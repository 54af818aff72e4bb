class Solution:
    def proud(self, tree):
        def after(node):
            stack = [(node, False)]
            while stack:
                node, ready = stack.pop()
                if node is None:
                    continue
                if ready:
                    yield node
                else:
                    stack.extend([(node, True), (node.right, False), (node.left, False)])

        totals = {}
        proud = []
        for node in after(tree):
            below = totals.get(node.left, 0) + totals.get(node.right, 0)
            totals[node] = below + node.val
            proud.append(1 if node.val > below else 0)
        return sum(proud)
