from collections import Counter


class Solution:
    def even(self, tree, guests):
        seen, count = Counter([0]), 0

        def visit(node, total):
            nonlocal count
            if node:
                total += node.val
                rest = total % guests
                count += seen[rest]
                seen[rest] += 1
                visit(node.left, total)
                visit(node.right, total)
                seen[rest] -= 1

        visit(tree, 0)
        return count
