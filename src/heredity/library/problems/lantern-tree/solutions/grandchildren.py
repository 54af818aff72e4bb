class Solution:
    def brightest(self, tree):
        order = [tree] if tree else []
        for node in order:
            order.extend(filter(None, (node.left, node.right)))
        best = {None: 0}
        while order:
            node = order.pop()
            children = [child for child in (node.left, node.right) if child]
            lit = node.val + sum(best[child.left] + best[child.right] for child in children)
            best[node] = max(lit, sum(best[child] for child in children))
        return best[tree]
