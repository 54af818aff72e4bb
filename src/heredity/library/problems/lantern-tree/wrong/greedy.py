class Solution:
    def brightest(self, tree):
        order, parent = [tree] if tree else [], {}
        for node in order:
            for child in (node.left, node.right):
                if child:
                    parent[child] = node
                    order.append(child)
        lit, total = set(), 0
        for node in sorted(order, key=lambda node: -node.val):
            around = (parent.get(node), node.left, node.right)
            if node.val > 0 and not any(other in lit for other in around):
                lit.add(node)
                total += node.val
        return total
