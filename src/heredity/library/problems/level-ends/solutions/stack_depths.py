class Solution:
    def ends(self, tree):
        first, last, stack = [], [], [(tree, 0)]
        while stack:
            node, depth = stack.pop()
            if not node:
                continue
            if depth == len(first):
                first.append(node.val)
                last.append(node.val)
            else:
                last[depth] = node.val
            stack.append((node.right, depth + 1))
            stack.append((node.left, depth + 1))
        return [a - b for a, b in zip(first, last)]
