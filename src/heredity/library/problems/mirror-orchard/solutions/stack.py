class Solution:
    def mirrored(self, tree, every):
        stack = [(tree, 0)]
        while stack:
            node, depth = stack.pop()
            if node:
                stack.append((node.left, depth + 1))
                stack.append((node.right, depth + 1))
                if depth % every == 0:
                    node.left, node.right = node.right, node.left
        return tree
