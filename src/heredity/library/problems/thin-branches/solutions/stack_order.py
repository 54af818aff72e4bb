class Solution:
    def cut(self, tree, least):
        order, stack = [], [tree]
        while stack:
            node = stack.pop()
            if node:
                order.append(node)
                stack += [node.right, node.left]
        total = {None: 0}
        for node in reversed(order):
            total[node] = node.val + total[node.left] + total[node.right]
            if total[node] < least:
                total[node] = 0
                node.gone = True
            else:
                node.gone = False
        for node in order:
            if node.left and node.left.gone:
                node.left = None
            if node.right and node.right.gone:
                node.right = None
        return None if tree is None or tree.gone else tree
