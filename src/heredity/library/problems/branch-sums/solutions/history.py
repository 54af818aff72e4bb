class Solution:
    def even(self, tree, guests):
        seen, trail, count, stack = {0: 1}, [], 0, [(tree, 0, 0)]
        while stack:
            node, depth, total = stack.pop()
            if not node:
                continue
            while len(trail) > depth:
                seen[trail.pop()] -= 1
            total = (total + node.val) % guests
            count += seen.get(total, 0)
            seen[total] = seen.get(total, 0) + 1
            trail.append(total)
            stack += [(node.right, depth + 1, total), (node.left, depth + 1, total)]
        return count
