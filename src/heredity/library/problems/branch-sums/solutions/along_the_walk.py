class Solution:
    def even(self, tree, guests):
        seen, count = {0: 1}, 0
        path, node, total, last = [], tree, 0, None
        while node or path:
            if node:
                total += node.val
                rest = total % guests
                count += seen.get(rest, 0)
                seen[rest] = seen.get(rest, 0) + 1
                path.append(node)
                node = node.left
                continue
            top = path[-1]
            if top.right and top.right is not last:
                node = top.right
                continue
            seen[total % guests] -= 1
            total -= top.val
            last = path.pop()
        return count
