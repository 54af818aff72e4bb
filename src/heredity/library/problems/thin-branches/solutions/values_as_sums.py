class Solution:
    def cut(self, tree, least):
        value, stack, last, node = {}, [], None, tree
        while stack or node:
            if node:
                stack.append(node)
                node = node.left
                continue
            top = stack[-1]
            if top.right and top.right is not last:
                node = top.right
                continue
            last = stack.pop()
            total = top.val
            if top.left:
                total += value.pop(top.left, 0)
                top.left = top.left if top.left.keep else None
            if top.right:
                total += value.pop(top.right, 0)
                top.right = top.right if top.right.keep else None
            top.keep = total >= least
            value[top] = total if top.keep else 0
        return tree if tree and tree.keep else None
