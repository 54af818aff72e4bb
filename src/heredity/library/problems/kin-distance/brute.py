class Solution:
    def steps(self, tree, pairs):
        way = {}

        def visit(node, above):
            if node:
                way[node.val] = [*above, node.val]
                visit(node.left, way[node.val])
                visit(node.right, way[node.val])

        visit(tree, [])
        return [len(set(way[a]) ^ set(way[b])) for a, b in pairs]
