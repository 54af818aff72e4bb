class Solution:
    def ends(self, tree):
        first, last = [], []

        def visit(node, depth):
            if node is None:
                return
            if depth == len(first):
                first.append(node.val)
                last.append(node.val)
            last[depth] = node.val
            visit(node.left, depth + 1)
            visit(node.right, depth + 1)

        visit(tree, 0)
        return [a - b for a, b in zip(first, last)]
