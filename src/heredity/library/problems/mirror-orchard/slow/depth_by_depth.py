class Solution:
    def mirrored(self, tree, every):
        wanted, more = 0, True
        while more:
            more, stack = False, [(tree, 0)]
            while stack:
                node, depth = stack.pop()
                if node and depth == wanted:
                    node.left, node.right = node.right, node.left
                    more = True
                elif node:
                    stack += [(node.left, depth + 1), (node.right, depth + 1)]
            wanted += every
        return tree
