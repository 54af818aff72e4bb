class Solution:
    def ends(self, tree):
        floors = {}

        def visit(node, depth):
            if node:
                floors.setdefault(depth, []).append(node.val)
                visit(node.left, depth + 1)
                visit(node.right, depth + 1)

        visit(tree, 0)
        return [floors[depth][0] - floors[depth][-1] for depth in range(len(floors))]
