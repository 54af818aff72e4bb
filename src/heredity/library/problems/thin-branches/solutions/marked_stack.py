class Solution:
    def cut(self, tree, least):
        stack, results = [(tree, False)], []
        while stack:
            node, ready = stack.pop()
            if node is None:
                results.append((None, 0))
            elif not ready:
                stack += [(node, True), (node.right, False), (node.left, False)]
            else:
                node.right, b = results.pop()
                node.left, a = results.pop()
                total = a + b + node.val
                results.append((node, total) if total >= least else (None, 0))
        return results[0][0]
