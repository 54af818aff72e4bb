class Solution:
    def proud(self, tree):
        first, second = [tree], []
        while first:
            node = first.pop()
            if node:
                second.append(node)
                first.append(node.left)
                first.append(node.right)
        sums, count = [], {}
        total = {}
        while second:
            node = second.pop()
            below = total.pop(node.left, 0) + total.pop(node.right, 0)
            sums.append((node.val, below))
            total[node] = below + node.val
        return len([1 for value, below in sums if value > below])
