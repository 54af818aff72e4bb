import sys


class Solution:
    def brightest(self, tree):
        sys.setrecursionlimit(500_000)
        known = {}

        def best(node, may):
            if not node:
                return 0
            if (node, may) not in known:
                light = best(node.left, True) + best(node.right, True)
                if may and node.val > 0:
                    light = max(light, node.val + best(node.left, False) + best(node.right, False))
                known[node, may] = light
            return known[node, may]

        return best(tree, True)
