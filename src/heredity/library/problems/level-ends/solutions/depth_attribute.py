class Solution:
    def ends(self, tree):
        order = [tree] if tree else []
        for node in order:
            if node.left:
                order.append(node.left)
            if node.right:
                order.append(node.right)
        if tree:
            tree.depth = 0
        first, last = {}, {}
        for node in order:
            first.setdefault(node.depth, node)
            last[node.depth] = node
            for child in (node.left, node.right):
                if child:
                    child.depth = node.depth + 1
        return [first[depth].val - last[depth].val for depth in sorted(first)]
