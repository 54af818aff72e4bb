class Solution:
    def ends(self, tree):
        if not tree:
            return []
        order, found, first = [tree, None], [], None
        last = None
        for node in order:
            if node is None:
                found.append(first.val - last.val)
                first = None
                if order[-1] is not None:
                    order.append(None)
                continue
            first, last = first or node, node
            order += [child for child in (node.left, node.right) if child]
        return found
