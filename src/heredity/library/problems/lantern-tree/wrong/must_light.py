class Solution:
    def brightest(self, tree):
        order = [tree] if tree else []
        for node in order:
            order += [child for child in (node.left, node.right) if child]
        best = {None: (0, 0)}
        for node in reversed(order):
            left, right = best[node.left], best[node.right]
            best[node] = (node.val + left[1] + right[1], left[0] + right[0])
        return max(best[tree])
