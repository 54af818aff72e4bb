class Solution:
    def ends(self, tree):
        def floor(wanted):
            values, stack = [], [(tree, 0)]
            while stack:
                node, depth = stack.pop()
                if node and depth == wanted:
                    values.append(node.val)
                elif node:
                    stack += [(node.right, depth + 1), (node.left, depth + 1)]
            return values

        found = []
        while values := floor(len(found)):
            found.append(values[0] - values[-1])
        return found
