class Solution:
    def even(self, tree, guests):
        def walk():
            stack = [(tree, 0)]
            while stack:
                node, total = stack.pop()
                if node is None:
                    yield total, -1
                else:
                    total = (total + node.val) % guests
                    yield total, 1
                    stack.append((None, total))
                    stack.extend((child, total) for child in (node.left, node.right) if child)

        if not tree:
            return 0
        seen, count = {0: 1}, 0
        for total, step in walk():
            if step > 0:
                count += seen.get(total, 0)
            seen[total] = seen.get(total, 0) + step
        return count
