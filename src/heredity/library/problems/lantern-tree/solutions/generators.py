class Solution:
    def brightest(self, tree):
        def both(node):
            if node is None:
                return 0, 0
            left = yield both(node.left)
            right = yield both(node.right)
            return node.val + left[1] + right[1], max(left) + max(right)

        stack, result = [both(tree)], None
        while stack:
            try:
                stack.append(stack[-1].send(result))
                result = None
            except StopIteration as stop:
                stack.pop()
                result = stop.value
        return max(result)
