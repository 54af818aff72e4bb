class Solution:
    def proud(self, tree):
        count, last, stack, node = 0, None, [], tree
        while stack or node:
            if node:
                stack.append(node)
                node = node.left
                continue
            top = stack[-1]
            if top.right and top.right is not last:
                node = top.right
                continue
            stack.pop()
            below = (top.left.val if top.left else 0) + (top.right.val if top.right else 0)
            count += top.val > below
            top.val += below
            last = top
        return count
