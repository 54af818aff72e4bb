class Solution:
    def even(self, tree, guests):
        count, seen, stack = 0, {0: 1}, [(tree, 0)]
        while stack:
            node, total = stack.pop()
            if node:
                total = (total + node.val) % guests
                count += seen.get(total, 0)
                seen[total] = seen.get(total, 0) + 1
                stack += [(node.left, total), (node.right, total)]
        return count
