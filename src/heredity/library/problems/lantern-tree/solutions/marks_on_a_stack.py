class Solution:
    def brightest(self, tree):
        stack, results = [(tree, False)], []
        while stack:
            node, ready = stack.pop()
            if node is None:
                results.append((0, 0))
            elif ready:
                a, b = results.pop(), results.pop()
                results.append((node.val + a[1] + b[1], max(a) + max(b)))
            else:
                stack += [(node, True), (node.right, False), (node.left, False)]
        return max(results[0])
