class Solution:
    def even(self, tree, guests):
        count, seen, stack = 0, {0: 1}, [(tree, 0)]
        while stack:
            node, total = stack.pop()
            if node is None:
                seen[total] -= 1
                continue
            total = (total + node.val) % guests
            before = seen.get(total, 0)
            count += before
            seen[total] = before + 1
            stack.append((None, total))
            if node.left:
                stack.append((node.left, total))
            if node.right:
                stack.append((node.right, total))
            if len(stack) == 1:
                seen[total] -= 1
                stack.pop()
        return count
