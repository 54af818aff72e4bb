class Solution:
    def even(self, tree, guests):
        # Each node ends as many good branches as the nearest node above with its rest, and one more.
        last, count, stack = {0: 1}, 0, [(tree, 0, None)]
        while stack:
            node, total, old = stack.pop()
            if old is not None:
                last[total] = old
            elif node:
                total = (total + node.val) % guests
                old = last.get(total, 0)
                count += old
                last[total] = old + 1
                stack += [(None, total, old), (node.left, total, None), (node.right, total, None)]
        return count
