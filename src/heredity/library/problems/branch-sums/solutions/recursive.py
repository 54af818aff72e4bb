class Solution:
    def even(self, tree, guests):
        seen = {0: 1}

        def visit(node, total):
            if node is None:
                return 0
            total = (total + node.val) % guests
            count = seen.get(total, 0)
            seen[total] = count + 1
            count += visit(node.left, total) + visit(node.right, total)
            seen[total] -= 1
            return count

        return visit(tree, 0)
