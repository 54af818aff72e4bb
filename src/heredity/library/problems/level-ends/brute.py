class Solution:
    def ends(self, tree):
        def floor(node, depth):
            if not node:
                return []
            return floor(node.left, depth - 1) + floor(node.right, depth - 1) if depth else [node.val]

        found = []
        while values := floor(tree, len(found)):
            found.append(values[0] - values[-1])
        return found
