from collections import defaultdict


class Solution:
    def mirrored(self, tree, every):
        floors, stack = defaultdict(list), [(tree, 0)]
        while stack:
            node, depth = stack.pop()
            if node:
                floors[depth].append(node)
                stack += ((node.left, depth + 1), (node.right, depth + 1))
        for depth in range(0, len(floors), every):
            for node in floors[depth]:
                node.left, node.right = node.right, node.left
        return tree
