class Solution:
    def ends(self, tree):
        rows, stack = [], [(tree, 0)]
        while stack:
            node, depth = stack.pop()
            if node:
                rows.append((depth, len(rows), node.val))
                stack += [(node.right, depth + 1), (node.left, depth + 1)]
        rows.sort()
        found = []
        for at, (depth, _, value) in enumerate(rows):
            if at == 0 or rows[at - 1][0] != depth:
                found.append(value)
            if at + 1 == len(rows) or rows[at + 1][0] != depth:
                found[-1] -= value
        return found
