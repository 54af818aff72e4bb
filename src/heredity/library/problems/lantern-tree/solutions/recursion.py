import sys


class Solution:
    def brightest(self, tree):
        sys.setrecursionlimit(300_000)

        def both(node):
            if node is None:
                return 0, 0
            (lit, free), (lit2, free2) = both(node.left), both(node.right)
            return node.val + free + free2, max(lit, free) + max(lit2, free2)

        return max(both(tree))
