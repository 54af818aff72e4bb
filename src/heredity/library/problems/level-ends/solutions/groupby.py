from itertools import groupby


class Solution:
    def ends(self, tree):
        order = [(0, tree)] if tree else []
        for depth, node in order:
            if node.left:
                order.append((depth + 1, node.left))
            if node.right:
                order.append((depth + 1, node.right))
        found = []
        for _, group in groupby(order, key=lambda pair: pair[0]):
            values = [node.val for _, node in group]
            found.append(values[0] - values[-1])
        return found
