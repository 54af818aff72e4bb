from collections import deque


class Solution:
    def cut(self, tree, least):
        order, queue = [], deque([tree] if tree else [])
        while queue:
            node = queue.popleft()
            order.append(node)
            queue.extend(child for child in (node.left, node.right) if child)
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
