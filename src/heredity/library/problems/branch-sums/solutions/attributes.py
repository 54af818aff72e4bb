class Solution:
    def even(self, tree, guests):
        if tree is None:
            return 0
        order, stack = [], [tree]
        while stack:
            node = stack.pop()
            if node:
                order.append(node)
                stack += [node.right, node.left]
        tree.total = tree.val % guests
        for node in order:
            for child in (node.left, node.right):
                if child:
                    child.total = (node.total + child.val) % guests
        seen, count, work = {0: 1}, 0, [(tree, 1)]
        while work:
            node, step = work.pop()
            if step > 0:
                count += seen.get(node.total, 0)
                work.append((node, -1))
                work += [(child, 1) for child in (node.left, node.right) if child]
            seen[node.total] = seen.get(node.total, 0) + step
        return count
