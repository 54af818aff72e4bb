class Solution:
    def even(self, tree, guests):
        count, stack = 0, [(tree, 0)]
        while stack:
            node, total = stack.pop()
            if node:
                total += node.val
                count += total % guests == 0
                stack += [(node.left, total), (node.right, total)]
        return count
