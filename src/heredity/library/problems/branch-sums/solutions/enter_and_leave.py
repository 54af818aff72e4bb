from collections import defaultdict


class Solution:
    def even(self, tree, guests):
        seen, count = defaultdict(int), 0
        seen[0] = 1
        stack = [(tree, 0, True)]
        while stack:
            node, total, enters = stack.pop()
            if not node:
                continue
            if not enters:
                seen[total] -= 1
                continue
            total = (total + node.val) % guests
            count += seen[total]
            seen[total] += 1
            stack += [(node, total, False), (node.right, total, True), (node.left, total, True)]
        return count
