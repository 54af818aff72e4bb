class Solution:
    def brightest(self, tree):
        # What a node adds to the best of its children, if anything: its light less what they would add.
        order, stack = [], [(tree, -1)] if tree else []
        while stack:
            node, parent = stack.pop()
            place = len(order)
            order.append((node.val, parent))
            for child in (node.left, node.right):
                if child:
                    stack.append((child, place))
        lost, total = [0] * len(order), 0
        for place in range(len(order) - 1, -1, -1):
            light, parent = order[place]
            gain = light - lost[place]
            if gain > 0:
                total += gain
                if parent >= 0:
                    lost[parent] += gain
        return total
